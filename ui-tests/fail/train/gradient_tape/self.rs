//! A loss has gradients if the forward pass was recorded.
//! Covers `Self` of `train::GradientTape`.
//! Right with `taped` for `plain` in line 13.
use typed_transformer::{nn::Linear, train::{Adam, update}, prelude::*};

dims! { Batch; WordLen; EmbedDim = 16; Letters = 26; }

type Layer = Linear<EmbedDim, Letters, f32, Cpu>;
type Embedded = Tensor<(Batch, WordLen, EmbedDim), f32, Cpu, NoneTape>;

fn train_step(layer: &mut Layer, plain: Embedded, labels: &LabelIds<Batch, WordLen, Letters>) {
    let taped = plain.clone().put_tape(layer.recording());
    let loss = cross_entropy(layer.forward(plain).unwrap(), labels, Reduction::MeanAll).unwrap();
    update(layer, loss.backward().unwrap(), &mut Adam::default(), 0.02, 1.0).unwrap();
}

fn main() {}
