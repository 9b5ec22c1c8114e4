//! Splitting heads keeps the length.
//! Proves `S` of `ops::split_heads`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; NumHeads = 4; HeadDim = 2; Batch; }

fn heads(
    projected: Tensor<(Batch, SrcLen, Product<NumHeads, HeadDim>), f32, Cpu>,
) -> Tensor<(Batch, NumHeads, SrcLen, HeadDim), f32, Cpu> {
    split_heads(projected)
}

fn main() {}
