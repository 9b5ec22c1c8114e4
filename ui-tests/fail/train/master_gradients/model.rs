//! Master gradients belong to the model that was copied.
//! Covers `Model` of `train::master_gradients`.
//! Right with `Letters` for `Sounds` in line 12.
use typed_transformer::{nn::Linear, train::*, prelude::*};

dims! { Letters = 28; Sounds = 44; EmbedDim = 8; }

type LmHead<Vocab, E> = Linear<EmbedDim, Vocab, E, Cpu>;

fn learn(
    model: &LmHead<Letters, f64>,
    copy: &LmHead<Sounds, f32>,
    gradients: GradientsOf<LmHead<Letters, f32>, f32, Cpu>,
    into: GradientsOf<LmHead<Letters, f64>, f64, Cpu>,
) -> Result<GradientsOf<LmHead<Letters, f64>, f64, Cpu>, OpError> {
    master_gradients(model, copy, gradients, 1024.0, into)
}

fn main() {}
