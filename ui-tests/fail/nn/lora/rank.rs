//! The rank of an adapter is below the dimensions of the map.
//! Covers `Rank` of `nn::Lora`.
//! Right with `Rank` for `High` in line 9.
use typed_transformer::{nn::Lora, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 6; Rank = 2; High = 6; }

struct Adapters {
    hidden: Lora<EmbedDim, HiddenDim, High, f32, Cpu>,
}

fn main() {}
