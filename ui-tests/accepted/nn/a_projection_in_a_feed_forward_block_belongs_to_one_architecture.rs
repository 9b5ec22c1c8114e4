//! A projection in a feed forward block belongs to one architecture.
//! Proves `A` of `nn::FeedForwardProjection`.
use typed_transformer::{nn::{FeedForwardProjection, Projection}, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 32; }

fn replace<Small: Arch, Large: Arch>(
    projection: &mut Projection<EmbedDim, HiddenDim, FeedForwardProjection<Small>, f32, Cpu>,
    other: Projection<EmbedDim, HiddenDim, FeedForwardProjection<Small>, f32, Cpu>,
) {
    *projection = other;
}

fn main() {}
