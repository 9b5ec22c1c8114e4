//! A convolution has as many channels as its weight.
//! Covers `Out` of `ops::conv1d`.
//! Right with `HiddenDim` for `GateDim` in line 12.
//! Mutants cover `B` by `Batch`, `Len` by `SeqLen`, `In` by `EmbedDim`, `Stride` by `Stride`, `Padding` by `Padding` of `ops::conv1d`.
use typed_transformer::{dims::ConvLen, ops::conv1d, prelude::*};

dims! { Batch = 2; SeqLen = 4; EmbedDim = 8; HiddenDim = 9; GateDim = 9; Kernel = 3; Stride = 2; Padding = 1; }
type Hidden = Tensor<(Batch, ConvLen<SeqLen, Kernel, Stride, Padding>, HiddenDim), f32, Cpu>;

fn convolve(
    x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>,
    weight: &Tensor<(GateDim, EmbedDim, Kernel), f32, Cpu>,
) -> Result<Hidden, OpError> {
    conv1d(x, weight, None, Stride, Padding)
}

fn main() {}
