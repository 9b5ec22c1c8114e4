//! Scaling keeps the shape.
//! Proves `Dims` of `ops::scale`.
use typed_transformer::{ops::scale, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; }

fn halve(
    input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
) -> Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu> {
    scale(input, 0.5)
}

fn main() {}
