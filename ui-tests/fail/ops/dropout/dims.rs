//! Dropout keeps the shape.
//! Covers `Dims` of `ops::dropout`.
//! Right with `SrcLen` for `TgtLen` in line 10.
use typed_transformer::{ops::dropout, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; }

fn thin(
    input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
) -> Result<Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>, OpError> {
    dropout(input, 0.1)
}

fn main() {}
