//! Splitting heads keeps the batch.
//! Covers `B` of `ops::split_heads`.
//! Right with `Batch` for `OtherBatch` in line 9.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; NumHeads = 4; HeadDim = 2; Batch; OtherBatch; }

fn heads(
    projected: Tensor<(OtherBatch, SrcLen, Product<NumHeads, HeadDim>), f32, Cpu>,
) -> Tensor<(Batch, NumHeads, SrcLen, HeadDim), f32, Cpu> {
    split_heads(projected)
}

fn main() {}
