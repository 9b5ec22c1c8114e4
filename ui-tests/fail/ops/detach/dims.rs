//! A copy without a gradient keeps the shape.
//! Covers `Dims` of `ops::detach`.
//! Right with `SrcLen` for `TgtLen` in line 8.
use typed_transformer::{ops::detach, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; }

fn constant(target: &Tensor<(TgtLen, EmbedDim), f32, Cpu>) -> Result<Tensor<(SrcLen, EmbedDim), f32, Cpu>, OpError> {
    detach(target)
}

fn main() {}
