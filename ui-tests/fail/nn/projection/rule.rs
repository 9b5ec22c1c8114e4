//! An attention projection is not a feed-forward projection, which may have a bias.
//! Covers `Rule` of `nn::Projection`.
//! Right with `other` for `attention` in line 13.
use typed_transformer::{nn::{AttentionProjection, FeedForwardProjection, Projection}, prelude::*};

dims! { EmbedDim = 8; }

fn replace<A: Arch<HiddenDim = EmbedDim>>(
    feed_forward: &mut FeedForward<EmbedDim, A, f32, Cpu>,
    attention: Projection<EmbedDim, EmbedDim, AttentionProjection<A>, f32, Cpu>,
    other: Projection<EmbedDim, EmbedDim, FeedForwardProjection<A>, f32, Cpu>,
) {
    feed_forward.hidden = attention;
}

fn main() {}
