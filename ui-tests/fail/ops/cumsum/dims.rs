//! Cumulative sums keep the shape.
//! Covers `Dims` of `ops::cumsum`.
//! Right with `SrcLen` for `TgtLen` in line 8.
use typed_transformer::{ops::cumsum, prelude::*};

dims! { SrcLen = 5; TgtLen = 5; EmbedDim = 8; }

fn sums(x: Tensor<(SrcLen, EmbedDim), f32, Cpu>) -> Tensor<(TgtLen, EmbedDim), f32, Cpu> {
    cumsum(x, axis::<SrcLen>())
}

fn main() {}
