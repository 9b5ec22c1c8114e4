//! A kernel fits into its axis with the padding.
//! Covers `Kernel` of `ops::conv1d`.
//! Right with `Kernel` for `LongKernel` in line 10.
use typed_transformer::{ops::conv1d, prelude::*};

dims! { Batch = 2; SeqLen = 4; EmbedDim = 8; HiddenDim = 9; Kernel = 3; LongKernel = 7; Stride = 2; Padding = 1; }

fn convolve(
    x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>,
    weight: &Tensor<(HiddenDim, EmbedDim, LongKernel), f32, Cpu>,
) -> Result<usize, OpError> {
    Ok(conv1d(x, weight, None, Stride, Padding)?.shape().1.size())
}

fn main() {}
