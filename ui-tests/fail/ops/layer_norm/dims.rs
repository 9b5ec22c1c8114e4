//! Layer normalization keeps all axes.
//! Covers `Dims` of `ops::layer_norm`.
//! Right with `SrcLen` for `TgtLen` in line 10.
//! Mutants cover `M` by `EmbedDim` of `ops::layer_norm`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; }

fn normalize(
    input: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>,
    weight: &Tensor<(EmbedDim,), f32, Cpu>,
    bias: &Tensor<(EmbedDim,), f32, Cpu>,
) -> Result<Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>, OpError> {
    layer_norm(input, weight, Some(bias), 1e-5)
}

fn main() {}
