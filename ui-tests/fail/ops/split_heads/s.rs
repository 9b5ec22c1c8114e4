//! Splitting heads keeps the sequence length.
//! Covers `S` of `ops::split_heads`.
//! Right with `SrcLen` for `TgtLen` in line 9.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; NumHeads = 4; HeadDim = 2; Batch; }

fn heads(
    projected: Tensor<(Batch, TgtLen, Product<NumHeads, HeadDim>), f32, Cpu>,
) -> Result<Tensor<(Batch, NumHeads, SrcLen, HeadDim), f32, Cpu>, OpError> {
    split_heads(projected)
}

fn main() {}
