//! The model behind a `Replicated` is saved: `save(&*model, ..)`.
//! Right with `LmHead` for `Shared` in line 11.
use typed_transformer::{nn::Linear, prelude::*, ranks, ranks::Replicated, weights};

ranks! { World; }
dims! { Letters = 28; EmbedDim = 8; }

type LmHead = Linear<EmbedDim, Letters, f32, Cpu>;
type Shared = Replicated<LmHead, World>;

fn store(logit: &Shared) -> Result<(), weights::SaveError> {
    weights::save(logit, "logit.safetensors")
}

fn main() {}
