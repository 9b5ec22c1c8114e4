//! One rank does not update a replicated model alone.
//! Right with `LmHead` for `Shared` in line 12.
use typed_transformer::{nn::Linear, prelude::*, ranks, ranks::*, train::*};

ranks! { World; Tp = 2; }
dims! { Letters = 28; EmbedDim = 8; }

type LmHead = Linear<EmbedDim, Letters, f32, Cpu>;
type Shared = Replicated<LmHead, World>;

fn learn(
    model: &mut Shared,
    gradients: GradientsOf<LmHead, f32, Cpu>,
    optimizer: &mut Adam<LmHead, f32>,
) -> Result<f64, OpError> {
    update(model, gradients, optimizer, 1e-3, 1.0)
}

fn main() {}
