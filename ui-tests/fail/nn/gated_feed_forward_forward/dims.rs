//! The output has the length of the input.
//! Covers `Dims` of `nn::GatedFeedForward::forward`.
//! Right with `SrcLen` for `TgtLen` in line 10.
use typed_transformer::{doctest::Model, nn::GatedFeedForward, prelude::*};

dims! { EmbedDim = 8; SrcLen = 5; TgtLen = 5; Batch; }

fn run(
    layer: &GatedFeedForward<EmbedDim, Model, f32, Cpu>,
    x: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>,
) -> Result<Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>, OpError> {
    layer.forward(x)
}

fn main() {}
