//! An adapter has the dimensions of the map that it adapts.
//! Covers `OutDim` of `nn::Lora`.
//! Right with `HiddenDim` for `OtherDim` in line 8.
use typed_transformer::{nn::{Linear, Lora}, prelude::*};

dims! { EmbedDim = 8; KeyDim = 8; HiddenDim = 6; OtherDim = 6; Rank = 2; }

fn merge(lora: &Lora<EmbedDim, OtherDim, Rank, f32, Cpu>, map: &Linear<EmbedDim, HiddenDim, f32, Cpu>) {
    let _merged = lora.merged(&map.weight, 16.0, NoneTape);
}

fn main() {}
