//! Packed weights are not saved.
//! Right with `FullPrecision` for `Q8` in line 8.
use typed_transformer::{nn, nn::Linear, prelude::*, weights};

dims! { Letters = 28; EmbedDim = 8; }

fn store(
    logit: &Linear<EmbedDim, Letters, f32, Cpu, nn::Q8>,
) -> Result<(), weights::SaveError> {
    weights::save(logit, "logit.safetensors")
}

fn main() {}
