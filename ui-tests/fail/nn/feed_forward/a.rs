//! A feed-forward block belongs to one architecture.
//! Covers `A` of `nn::FeedForward`.
//! Right with `Small` for `Large` in line 10.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; }

fn replace<Small: Arch, Large: Arch>(
    layer: &mut EncoderLayer<EmbedDim, Small, f32, Cpu>,
    feed_forward: FeedForward<EmbedDim, Large, f32, Cpu>,
) {
    layer.feed_forward = feed_forward;
}

fn main() {}
