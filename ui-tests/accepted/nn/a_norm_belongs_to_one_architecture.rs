//! A norm belongs to one architecture.
//! Proves `A` of `nn::Norm`.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; }

fn replace<Small: Arch, Large: Arch>(
    norm: &mut Norm<EmbedDim, Small, f32, Cpu>,
    other: Norm<EmbedDim, Small, f32, Cpu>,
) {
    *norm = other;
}

fn main() {}
