//! Dropout keeps the shape.
//! Proves `Dims` of `ops::dropout`.
use typed_transformer::{ops::dropout, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; }

fn thin(
    input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
) -> Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> {
    dropout(input, 0.1)
}

fn main() {}
