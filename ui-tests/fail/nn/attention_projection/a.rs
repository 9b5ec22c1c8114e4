//! An attention projection belongs to one architecture.
//! Covers `A` of `nn::AttentionProjection`.
//! Right with `Small` for `Large` in line 10.
use typed_transformer::{nn::{AttentionProjection, Projection}, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 32; }

fn replace<Small: Arch, Large: Arch>(
    projection: &mut Projection<EmbedDim, HiddenDim, AttentionProjection<Small>, f32, Cpu>,
    other: Projection<EmbedDim, HiddenDim, AttentionProjection<Large>, f32, Cpu>,
) {
    *projection = other;
}

fn main() {}
