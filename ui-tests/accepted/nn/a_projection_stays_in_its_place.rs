//! A linear map of an attention does not become one of a feed-forward, which may have a bias.
//! Proves `P` of `nn::Projection`.
use typed_transformer::{nn::{AttentionProjection, FeedForwardProjection, Projection}, prelude::*};

dims! { EmbedDim = 8; }

fn replace<A: Arch<HiddenDim = EmbedDim>>(
    feed_forward: &mut FeedForward<EmbedDim, A, f32, Cpu>,
    attention: Projection<EmbedDim, EmbedDim, AttentionProjection<A>, f32, Cpu>,
    other: Projection<EmbedDim, EmbedDim, FeedForwardProjection<A>, f32, Cpu>,
) {
    feed_forward.hidden = other;
}

fn main() {}
