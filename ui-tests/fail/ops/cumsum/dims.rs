//! Cumulative sums keep the shape.
//! Covers `Dims` of `ops::cumsum`.
//! Right with `EmbedDim` for `HiddenDim` in line 9.
//! Mutants cover `Name` by `SrcLen` of `ops::cumsum`.
use typed_transformer::{ops::cumsum, prelude::*};

dims! { SrcLen = 5; EmbedDim = 8; HiddenDim = 8; }

fn sums(x: Tensor<(SrcLen, EmbedDim), f32, Cpu>) -> Result<Tensor<(SrcLen, HiddenDim), f32, Cpu>, OpError> {
    cumsum(x, axis::<SrcLen>()) // or over EmbedDim
}

fn main() {}
