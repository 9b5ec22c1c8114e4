//! A batch that may be sharded is not summed as a whole.
//! Right with `Dim` for `DataDim` in line 7.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; }

fn sum<B: DataDim>(x: Tensor<(B, EmbedDim), f32, Cpu>) -> Result<Tensor<(EmbedDim,), f32, Cpu>, OpError> {
    sum_over(x, axis::<B>())
}

fn main() {}
