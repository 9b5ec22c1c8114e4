//! A permutation keeps all axes of its input.
//! Covers `Dims` of `ops::permute`.
//! Right with `SrcLen` for `TgtLen` in line 10.
//! Mutants cover `To` by `SrcLen` of `ops::permute`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; NumHeads = 4; Batch; }

fn heads_first(
    heads: Tensor<(Batch, TgtLen, NumHeads), f32, Cpu>,
) -> Result<Tensor<(NumHeads, Batch, SrcLen), f32, Cpu>, OpError> {
    permute(heads)
}

fn main() {}
