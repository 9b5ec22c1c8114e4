//! A model that is a reference already is passed as it is.
//! Right with `owned` for `model` in line 11.
use typed_transformer::{nn::Linear, prelude::*, train::{Adam, GradientsOf, update}};

dims! { Letters = 28; EmbedDim = 8; }

type LmHead = Linear<EmbedDim, Letters, f32, Cpu>;

fn learn(model: &mut LmHead, gradients: GradientsOf<LmHead>, more: GradientsOf<LmHead>) -> Result<f64, OpError> {
    let mut owned = model.clone();
    update(&mut model, gradients, &mut Adam::default(), 1e-3, 1.0)?;
    update(&mut owned, more, &mut Adam::default(), 1e-3, 1.0)
}

fn main() {}
