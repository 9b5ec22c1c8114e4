//! Weights are of the kind that they were stored in.
//! Proves `E` of `weights::load`.
use typed_transformer::{weights, nn::Linear, prelude::*};

dims! { Letters = 28; EmbedDim = 8; }

type LmHead<E> = Linear<EmbedDim, Letters, E, Cpu>;

fn open(device: &Cpu) -> Result<(), weights::LoadError> {
    let _logit: LmHead<f64> = weights::load::<LmHead<f32>, _, _>("logit.safetensors", device)?;
    Ok(())
}

fn main() {}
