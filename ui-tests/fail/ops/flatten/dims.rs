//! The last axis stays when the others are flattened.
//! Covers `Dims` of `ops::flatten`.
//! Right with `EmbedDim` for `GateDim` in line 9.
//! Mutants cover `Rows` by `Tokens`, `M` by `EmbedDim` of `ops::flatten`.
use typed_transformer::{ops::flatten, prelude::*};

dims! { EmbedDim = 8; GateDim = 8; SrcLen = 5; Batch; Tokens; }

fn rows(input: Tensor<(Batch, SrcLen, GateDim), f32, Cpu>, tokens: Tokens) {
    let _rows: Tensor<(Tokens, EmbedDim), f32, Cpu> = flatten(input, tokens).unwrap();
}

fn main() {}
