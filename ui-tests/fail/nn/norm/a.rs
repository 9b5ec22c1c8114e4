//! A norm belongs to one architecture.
//! Covers `A` of `nn::Norm`.
//! Right with `Small` for `Large` in line 10.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; }

fn replace<Small: Arch, Large: Arch>(
    norm: &mut Norm<EmbedDim, Small, f32, Cpu>,
    other: Norm<EmbedDim, Large, f32, Cpu>,
) {
    *norm = other;
}

fn main() {}
