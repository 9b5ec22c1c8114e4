//! A feed-forward block projects from its hidden width back to the embedding width.
//! Right with `EmbedDim` for the second `HiddenDim` in line 11.
//!
//! *Annotated transformer (Flax)* writes `nn.Dense(self.hidden, self.d_model)` for the way back; the second
//! argument of `Dense` is `use_bias`, so the output is as wide as the hidden layer.
use typed_transformer::{nn::Linear, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 32; SeqLen; Batch; }

fn feed_forward(
    output: &Linear<HiddenDim, HiddenDim, f32, Cpu>,
    input: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>,
    hidden: Tensor<(Batch, SeqLen, HiddenDim), f32, Cpu>,
) -> Result<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, OpError> {
    let output = output.forward(hidden)?;
    residual(input, output)
}

fn main() {}
