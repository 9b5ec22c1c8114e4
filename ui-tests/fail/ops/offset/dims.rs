//! A sum with a number keeps the shape.
//! Covers `Dims` of `ops::offset`.
//! Right with `SrcLen` for `TgtLen` in line 10.
use typed_transformer::{ops::offset, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; }

fn halve(
    input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
) -> Result<Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>, OpError> {
    offset(input, 0.5)
}

fn main() {}
