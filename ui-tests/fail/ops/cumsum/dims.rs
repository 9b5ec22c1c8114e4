//! Cumulative sums keep the shape.
//! Covers `Dims` of `ops::cumsum`.
//! Right with `EmbedDim` for `HiddenDim` in line 8.
use typed_transformer::{ops::cumsum, prelude::*};

dims! { SrcLen = 5; EmbedDim = 8; HiddenDim = 8; }

fn sums(x: Tensor<(SrcLen, EmbedDim), f32, Cpu>) -> Tensor<(SrcLen, HiddenDim), f32, Cpu> {
    cumsum(x, axis::<SrcLen>())
}

fn main() {}
