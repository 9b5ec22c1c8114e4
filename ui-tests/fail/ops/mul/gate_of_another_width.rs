//! A gate has the columns that it opens.
//! Right with `HiddenDim` for `EmbedDim` in line 8.
use typed_transformer::{ops::{Activation, Silu, mul}, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 8; SeqLen; Batch; }

fn swiglu(
    gate: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>,
    up: Tensor<(Batch, SeqLen, HiddenDim), f32, Cpu>,
) -> Result<Tensor<(Batch, SeqLen, HiddenDim), f32, Cpu>, OpError> {
    Ok(mul(up, Silu::try_apply(gate)?))
}

fn main() {}
