//! One place is taken from an axis of the tensor.
//! Covers `Name` of `ops::select`.
//! Right with `SrcLen` for `TgtLen` in line 9.
use typed_transformer::{ops::select, prelude::*};

dims! { SrcLen = 5; TgtLen = 5; EmbedDim = 8; Batch; }

fn first(x: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>) {
    let _vectors = select(x, axis::<TgtLen>(), 0);
}

fn main() {}
