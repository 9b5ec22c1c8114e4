//! Weights are loaded where the model is to be.
//! Proves `D` of `io::load`.
use typed_transformer::{io, nn::Linear, prelude::*};

dims! { Letters = 28; EmbedDim = 8; Other; }

type Logit<D> = Linear<EmbedDim, Letters, f32, D>;

fn open<One: Backend<f32>, Other: Backend<f32>>(
    device: &Other,
) -> Result<Logit<One>, io::LoadError> {
    io::load::<_, f32, One>("logit.safetensors", device)
}

fn main() {}
