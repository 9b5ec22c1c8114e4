//! The gradients of a model are compared with those of the same model.
//! Covers `Model` of `train::compare_gradients`.
//! Right with `Letters` for `Sounds` in line 13.
use typed_transformer::{nn::Linear, train::{Differences, GradientsOf, compare_gradients}, prelude::*};

dims! { Letters = 28; Sounds = 44; EmbedDim = 8; }

type LmHead<Vocab> = Linear<EmbedDim, Vocab, f32, Cpu>;

fn compare(
    model: &LmHead<Letters>,
    gradients: &mut GradientsOf<LmHead<Letters>, f32, Cpu>,
    expected: &LmHead<Sounds>,
) -> Result<Differences, OpError> {
    compare_gradients(model, gradients, expected)
}

fn main() {}
