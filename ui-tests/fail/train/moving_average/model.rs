//! A moving average is that of one model.
//! Covers `Model` of `train::MovingAverage`.
//! Right with `Letters` for `Sounds` in line 12.
use typed_transformer::{nn::Linear, prelude::*, train::MovingAverage};

dims! { Letters = 28; Sounds = 44; EmbedDim = 8; }

type LmHead<Vocab> = Linear<EmbedDim, Vocab, f32, Cpu>;

fn average(
    average: &mut MovingAverage<LmHead<Letters>>,
    model: &LmHead<Sounds>,
) -> Result<(), OpError> {
    average.add(model)
}

fn main() {}
