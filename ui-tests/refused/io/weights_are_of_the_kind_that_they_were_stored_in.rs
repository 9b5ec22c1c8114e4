//! Weights are of the kind that they were stored in.
//! Proves `E` of `io::load`.
use typed_transformer::{io, nn::Linear, prelude::*};

dims! { Letters = 28; EmbedDim = 8; }

type Logit<E> = Linear<EmbedDim, Letters, E, Cpu>;

fn open(device: &Cpu) -> Result<(), io::LoadError> {
    let _logit: Logit<f64> = io::load::<Logit<f32>, _, _>("logit.safetensors", device)?;
    Ok(())
}

fn main() {}
