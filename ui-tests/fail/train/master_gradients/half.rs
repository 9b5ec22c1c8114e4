//! Master gradients are computed from gradients of the low-precision copy.
//! Covers `Half` of `train::master_gradients`.
//! Right with `f32` for `f64` in line 13.
use typed_transformer::{nn::Linear, train::*, prelude::*};

dims! { Letters = 28; EmbedDim = 8; }

type LmHead<E> = Linear<EmbedDim, Letters, E, Cpu>;

fn learn(
    model: &LmHead<f64>,
    copy: &LmHead<f32>,
    gradients: GradientsOf<LmHead<f32>, f64, Cpu>,
    into: GradientsOf<LmHead<f64>, f64, Cpu>,
) -> Result<GradientsOf<LmHead<f64>, f64, Cpu>, OpError> {
    master_gradients(model, copy, gradients, 1024.0, into)
}

fn main() {}
