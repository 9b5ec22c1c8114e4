//! The last axis stays when rows are divided among other axes.
//! Covers `To` of `ops::unflatten`.
//! Right with `EmbedDim` for `GateDim` in line 10.
//! Mutants cover `Rows` by `Tokens`, `M` by `EmbedDim` of `ops::unflatten`.
use typed_transformer::ops::{flatten, unflatten};
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; GateDim = 8; SrcLen = 5; Batch; Tokens; }

fn back(x: Tensor<(Batch, EmbedDim), f32, Cpu>, tokens: Tokens, shape: (Batch, SrcLen, GateDim)) {
    let rows: Tensor<(Tokens, EmbedDim), f32, Cpu> = flatten(x, tokens).unwrap();
    let _x = unflatten(rows, shape).unwrap();
}

fn main() {}
