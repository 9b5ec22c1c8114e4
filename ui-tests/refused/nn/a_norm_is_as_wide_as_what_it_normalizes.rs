//! A norm is as wide as what it normalizes.
//! Proves `EmbedDim` of `nn::Norm`.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; HiddenDim = 32; }

fn replace<Small: Arch, Large: Arch>(
    feed_forward: &mut FeedForward<EmbedDim, Small, f32, Cpu>,
    norm: Norm<HiddenDim, Small, f32, Cpu>,
) {
    feed_forward.norm = Some(norm);
}

fn main() {}
