//! A new name leaves the other axes as they are.
//! Covers `Dims` of `ops::rename`.
//! Right with `SrcLen` for `TgtLen` in line 9.
//! Mutants cover `From` by `EmbedDim`, `To` by `GateDim` of `ops::rename`.
use typed_transformer::{ops::rename, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; GateDim = 8; HiddenDim = 9; }

fn gate(input: Tensor<(TgtLen, EmbedDim), f32, Cpu>) {
    let _gate: Tensor<(SrcLen, GateDim), f32, Cpu> = rename(input, axis::<EmbedDim>(), GateDim).unwrap();
}

fn main() {}
