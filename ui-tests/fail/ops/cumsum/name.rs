//! Cumulative sums run along an axis of the tensor.
//! Covers `Name` of `ops::cumsum`.
//! Right with `SrcLen` for `TgtLen` in line 9.
use typed_transformer::{ops::cumsum, prelude::*};

dims! { SrcLen = 5; TgtLen = 5; EmbedDim = 8; }

fn sums(x: Tensor<(SrcLen, EmbedDim), f32, Cpu>) -> Tensor<(SrcLen, EmbedDim), f32, Cpu> {
    cumsum(x, axis::<TgtLen>())
}

fn main() {}
