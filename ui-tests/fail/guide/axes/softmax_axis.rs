//! A softmax is taken over an axis of the tensor.
//! Right with `S` for `EmbedDim` in line 10.
use typed_transformer::prelude::*;

dims! { Ends = 2; EmbedDim = 16; }

fn weights<B: Dim, S: Dim>(
    scores: Tensor<(B, S, Ends), f32, Cpu>,
) -> Result<Tensor<(B, S, Ends), f32, Cpu>, OpError> {
    softmax_over(scores, axis::<EmbedDim>())
}

fn main() {}
