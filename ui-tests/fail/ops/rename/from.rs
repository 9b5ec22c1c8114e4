//! The axis that gets a new name is an axis of the tensor.
//! Covers `From` of `ops::rename`.
//! Right with `EmbedDim` for the second `GateDim` in line 9.
use typed_transformer::{ops::rename, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; GateDim = 8; HiddenDim = 9; }

fn gate(input: Tensor<(SrcLen, EmbedDim), f32, Cpu>) {
    let _gate: Tensor<(SrcLen, GateDim), f32, Cpu> = rename(input, axis::<GateDim>(), GateDim);
}

fn main() {}
