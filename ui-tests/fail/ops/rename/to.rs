//! A new name does not change the size of an axis.
//! Covers `To` of `ops::rename`.
//! Right with `GateDim` for `HiddenDim` in line 9.
use typed_transformer::{ops::rename, prelude::*};

dims! { SrcLen = 5; EmbedDim = 8; GateDim = 8; HiddenDim = 9; }

fn gate(input: Tensor<(SrcLen, EmbedDim), f32, Cpu>) {
    let _gate = rename(input, axis::<EmbedDim>(), HiddenDim);
}

fn main() {}
