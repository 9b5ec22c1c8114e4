//! A permutation adds no axis.
//! Covers `To` of `ops::permute`.
//! Right with `SrcLen` for `OtherLen` in line 10.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; OtherLen = 6; NumHeads = 4; Batch; }

fn heads_first(
    heads: Tensor<(Batch, SrcLen, NumHeads), f32, Cpu>,
) -> Tensor<(NumHeads, Batch, OtherLen), f32, Cpu> {
    permute(heads)
}

fn main() {}
