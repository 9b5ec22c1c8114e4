//! An axis is named by a dimension of the tensor.
use typed_transformer::prelude::*;

dims! { Ends = 2; EmbedDim = 16; }

fn weights<B: Dim, S: Dim>(
    scores: Tensor<(B, S, Ends), f32, Cpu>,
) -> Tensor<(B, S, Ends), f32, Cpu> {
    softmax_over(scores, axis::<EmbedDim>())
}

fn main() {}
