//! A permutation has all axes of its input.
//! Proves `Dims` of `ops::permute`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; NumHeads = 4; Batch; }

fn heads_first(
    heads: Tensor<(Batch, SrcLen, NumHeads), f32, Cpu>,
) -> Tensor<(NumHeads, Batch, SrcLen), f32, Cpu> {
    permute(heads)
}

fn main() {}
