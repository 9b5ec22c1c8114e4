//! A feed-forward projection belongs to one architecture.
//! Covers `A` of `nn::FeedForwardProjection`.
//! Right with `Small` for `Large` in line 10.
use typed_transformer::{nn::{FeedForwardProjection, Projection}, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 32; }

fn replace<Small: Arch, Large: Arch>(
    projection: &mut Projection<EmbedDim, HiddenDim, FeedForwardProjection<Small>, f32, Cpu>,
    other: Projection<EmbedDim, HiddenDim, FeedForwardProjection<Large>, f32, Cpu>,
) {
    *projection = other;
}

fn main() {}
