//! A layer of one width does not run on another.
//! Covers `EmbedDim` of `nn::GatedFeedForward`.
//! Right with `EmbedDim` for `OtherDim` in line 8.
use typed_transformer::{doctest::Model, nn::GatedFeedForward, prelude::*};

dims! { EmbedDim = 8; OtherDim = 8; SrcLen = 5; Batch; }

fn run(layer: &GatedFeedForward<EmbedDim, Model, f32, Cpu>, x: Tensor<(Batch, SrcLen, OtherDim), f32, Cpu>) {
    layer.forward(x);
}

fn main() {}
