//! Weights are loaded onto the device of the model.
//! Covers `D` of `weights::load`.
//! Right with `One` for `Other` in line 11.
use typed_transformer::{weights, nn::Linear, prelude::*};

dims! { Letters = 28; EmbedDim = 8; Other; }

type LmHead<D> = Linear<EmbedDim, Letters, f32, D>;

fn open<One: Backend<f32>, Other: Backend<f32>>(
    device: &Other,
) -> Result<LmHead<One>, weights::LoadError> {
    weights::load::<_, f32, One>("logit.safetensors", device)
}

fn main() {}
