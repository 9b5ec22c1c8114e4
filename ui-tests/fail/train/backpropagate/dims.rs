//! A loss is one number.
//! Covers `Dims` of `train::Backpropagate`.
//! Right with `mean` for `losses` in line 18.
use typed_transformer::{nn::Linear, ops, prelude::*, train::GradientsOf};

dims! { Batch; WordLen; EmbedDim = 16; Letters = 26; }

type Layer = Linear<EmbedDim, Letters, f32, Cpu>;

fn gradients(
    layer: &Layer,
    input: Tensor<(Batch, WordLen, EmbedDim), f32, Cpu>,
    labels: &LabelIds<Batch, WordLen, Letters>,
) -> Result<GradientsOf<Layer, f32, Cpu>, OpError> {
    let logits = layer.forward(input.put_tape(layer.recording()))?;
    let losses = ops::cross_entropy_by_position(logits, labels)?;
    let mean = ops::mean(losses.clone())?;
    losses.backward()
}

fn main() {}
