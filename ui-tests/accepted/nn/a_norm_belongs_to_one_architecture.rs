//! A norm belongs to one architecture.
//! Proves `A` of `nn::Norm`.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; }

fn replace<Small: Arch, Large: Arch>(
    feed_forward: &mut FeedForward<EmbedDim, Small, f32, Cpu>,
    norm: Norm<EmbedDim, Small, f32, Cpu>,
) {
    feed_forward.norm = Some(norm);
}

fn main() {}
