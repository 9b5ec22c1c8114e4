//! A projection belongs to one place.
//! Proves `P` of `nn::Projection`.
use typed_transformer::{nn::{InAttention, InFeedForward, Projection}, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 32; }

fn replace<A: Arch>(
    projection: &mut Projection<EmbedDim, HiddenDim, InAttention<A>, f32, Cpu>,
    other: Projection<EmbedDim, HiddenDim, InFeedForward<A>, f32, Cpu>,
) {
    *projection = other;
}

fn main() {}
