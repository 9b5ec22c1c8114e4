//! Scaling keeps the shape.
//! Covers `Dims` of `ops::scale`.
//! Right with `SrcLen` for `TgtLen` in line 10.
use typed_transformer::{ops::scale, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; }

fn halve(
    input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
) -> Result<Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>, OpError> {
    scale(input, 0.5)
}

fn main() {}
