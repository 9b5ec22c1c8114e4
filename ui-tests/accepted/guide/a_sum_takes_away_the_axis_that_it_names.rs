//! A sum over the letters leaves a vector for each end.
use typed_transformer::prelude::*;

dims! { Ends = 2; EmbedDim = 16; }

fn sum<B: Dim, S: Dim>(
    weighted: Tensor<(B, S, Ends, EmbedDim), f32, Cpu>,
) -> Tensor<(B, Ends, EmbedDim), f32, Cpu> {
    sum_over(weighted, axis::<S>())
}

fn main() {}
