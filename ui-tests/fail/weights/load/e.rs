//! Weights are loaded with the element type of the model.
//! Covers `E` of `weights::load`.
//! Right with `f32` for `f64` in line 11.
use typed_transformer::{weights, nn::Linear, prelude::*};

dims! { Letters = 28; EmbedDim = 8; }

type LmHead<E> = Linear<EmbedDim, Letters, E, Cpu>;

fn open(device: &Cpu) -> Result<(), weights::LoadError> {
    let _logit: LmHead<f64> = weights::load::<LmHead<f32>, _, _>("logit.safetensors", device)?;
    Ok(())
}

fn main() {}
