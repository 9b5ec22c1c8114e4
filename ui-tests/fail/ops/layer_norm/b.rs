//! Layer normalization keeps the batch.
//! Covers `B` of `ops::layer_norm`.
//! Right with `Batch` for `OtherBatch` in line 9.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; EmbedDim = 8; Batch; OtherBatch; }

fn normalize(
    input: Tensor<(OtherBatch, SrcLen, EmbedDim), f32, Cpu>,
    weight: &Tensor<(EmbedDim,), f32, Cpu>,
    bias: &Tensor<(EmbedDim,), f32, Cpu>,
) -> Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> {
    layer_norm(input, weight, Some(bias), 1e-5)
}

fn main() {}
