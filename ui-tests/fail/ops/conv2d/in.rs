//! The weight of a convolution has the channels of the image.
//! Covers `In` of `ops::conv2d`.
//! Right with `Channels` for `HiddenDim` in line 13.
//! Mutants cover `B` by `Batch`, `Height` by `Height`, `Width` by `Width`, `Out` by `EmbedDim`, `KernelHeight` by `KernelHeight`, `KernelWidth` by `KernelWidth`, `Stride` by `Stride`, `Padding` by `Padding` of `ops::conv2d`.
use typed_transformer::{dims::ConvLen, ops::conv2d, prelude::*};

dims! { Batch = 2; Height = 6; Width = 7; Channels = 3; HiddenDim = 3; EmbedDim = 8; KernelHeight = 3; KernelWidth = 2; Stride = 2; Padding = 1; }
type Rows = ConvLen<Height, KernelHeight, Stride, Padding>;
type Columns = ConvLen<Width, KernelWidth, Stride, Padding>;

fn convolve(
    image: Tensor<(Batch, Height, Width, Channels), f32, Cpu>,
    weight: &Tensor<(EmbedDim, HiddenDim, KernelHeight, KernelWidth), f32, Cpu>,
) -> Result<Tensor<(Batch, Rows, Columns, EmbedDim), f32, Cpu>, OpError> {
    conv2d(image, weight, None, Stride, Padding)
}

fn main() {}
