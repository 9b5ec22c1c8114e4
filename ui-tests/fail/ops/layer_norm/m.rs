//! Layer normalization has one weight per column.
//! Covers `M` of `ops::layer_norm`.
//! Right with `EmbedDim` for `HiddenDim` in line 10.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; EmbedDim = 8; HiddenDim = 32; Batch; }

fn normalize(
    input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    weight: &Tensor<(HiddenDim,), f32, Cpu>,
    bias: &Tensor<(EmbedDim,), f32, Cpu>,
) -> Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> {
    layer_norm(input, weight, Some(bias), 1e-5)
}

fn main() {}
