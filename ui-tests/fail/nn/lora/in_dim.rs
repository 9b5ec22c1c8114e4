//! An adapter has the dimensions of the map that it adapts.
//! Covers `InDim` of `nn::Lora`.
//! Right with `EmbedDim` for `KeyDim` in line 9.
//! Mutants cover `OutDim` by `HiddenDim`, `Rank` by `Rank` of `nn::Lora`.
use typed_transformer::{nn::{Linear, Lora}, prelude::*};

dims! { EmbedDim = 8; KeyDim = 8; HiddenDim = 6; OtherDim = 6; Rank = 2; }

fn merge(lora: &Lora<KeyDim, HiddenDim, Rank, f32, Cpu>, map: &Linear<EmbedDim, HiddenDim, f32, Cpu>) {
    let _merged = lora.merged(&map.weight, 16.0, NoneTape).unwrap();
}

fn main() {}
