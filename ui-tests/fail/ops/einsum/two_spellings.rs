//! An axis of two operands is spelled alike in both.
//! Right with `EmbedDim` for `Width` in line 12.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; QLen = 2; KLen = 3; Batch; }
type Width = EmbedDim;

fn scores(
    query: Tensor<(Batch, QLen, EmbedDim), f32, Cpu>,
    key: Tensor<(Batch, KLen, Width), f32, Cpu>,
) -> Result<Tensor<(Batch, QLen, KLen), f32, Cpu>, OpError> {
    einsum!(query: (Batch, QLen, EmbedDim), key: (Batch, KLen, Width) -> (Batch, QLen, KLen))
}

fn main() {}
