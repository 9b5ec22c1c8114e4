//! A pass is recorded in the dtype of its model.
//! Right with `f32` for `f64` in line 9.
use typed_transformer::{nn::Linear, prelude::*};

dims! { Letters = 28; EmbedDim = 8; SeqLen; Batch; }

type Logits<E> = Linear<EmbedDim, Letters, E, Cpu>;

fn record(logits: &Logits<f32>, recorded: &Logits<f64>, x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>) {
    let _logits = logits.forward(x.put_tape(recorded.recording()));
}

fn main() {}
