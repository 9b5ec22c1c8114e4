//! A linear map takes vectors of its input width, and no annotation has to ask for it.
use typed_transformer::{nn::Linear, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 8; SeqLen; Batch; }

fn map(
    linear: &Linear<EmbedDim, HiddenDim, f32, Cpu>,
    input: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>,
) {
    let _mapped = linear.forward(input);
}

fn main() {}
