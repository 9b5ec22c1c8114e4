//! Rounding keeps the shape.
//! Covers `Dims` of `ops::round_to_bf16`.
//! Right with `SrcLen` for `TgtLen` in line 10.
use typed_transformer::{ops::round_to_bf16, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; }

fn rounded(
    input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
) -> Result<Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>, OpError> {
    round_to_bf16(input)
}

fn main() {}
