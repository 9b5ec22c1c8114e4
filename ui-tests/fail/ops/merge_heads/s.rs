//! Merging heads keeps the sequence length.
//! Covers `S` of `ops::merge_heads`.
//! Right with `SrcLen` for `TgtLen` in line 10.
//! Mutants cover `B` by `Batch`, `H` by `NumHeads`, `HeadDim` by `HeadDim` of `ops::merge_heads`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; NumHeads = 4; HeadDim = 2; Batch; }

fn merged(
    heads: Tensor<(Batch, NumHeads, TgtLen, HeadDim), f32, Cpu>,
) -> Result<Tensor<(Batch, SrcLen, Product<NumHeads, HeadDim>), f32, Cpu>, OpError> {
    merge_heads(heads)
}

fn main() {}
