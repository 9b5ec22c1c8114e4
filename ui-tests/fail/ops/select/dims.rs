//! One place of an axis keeps the other axes.
//! Covers `Dims` of `ops::select`.
//! Right with `EmbedDim` for `HiddenDim` in line 9.
//! Mutants cover `Name` by `SrcLen` of `ops::select`.
use typed_transformer::{ops::select, prelude::*};

dims! { SrcLen = 5; EmbedDim = 8; HiddenDim = 8; Batch; }

fn first(x: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>) -> Result<Tensor<(Batch, HiddenDim), f32, Cpu>, OpError> {
    select(x, axis::<SrcLen>(), 0)
}

fn main() {}
