//! The output has the batch of the input.
//! Covers `B` of `nn::GatedFeedForward::forward`.
//! Right with `Batch` for `OtherBatch` in line 8.
use typed_transformer::{doctest::Model, nn::GatedFeedForward, prelude::*};

dims! { EmbedDim = 8; SrcLen = 5; Batch; OtherBatch; }

fn run(layer: &GatedFeedForward<EmbedDim, Model, f32, Cpu>, x: Tensor<(OtherBatch, SrcLen, EmbedDim), f32, Cpu>) {
    let _output: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> = layer.forward(x);
}

fn main() {}
