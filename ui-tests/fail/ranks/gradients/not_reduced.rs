//! Gradients of one rank's rows are not those of the batch: an update takes the sum over the ranks.
//! Right with `Replicated` for `Partial` in line 12.
use typed_transformer::{nn::Linear, prelude::*, ranks, ranks::*, train::*};

ranks! { World; Tp = 2; }
dims! { Letters = 28; EmbedDim = 8; }

type LmHead = Linear<EmbedDim, Letters, f32, Cpu>;

fn learn(
    model: &mut Replicated<LmHead, World>,
    gradients: Partial<GradientsOf<LmHead, f32, Cpu>, World>,
    optimizer: &mut Adam<LmHead, f32>,
) -> Result<f64, OpError> {
    update_replicated(model, gradients, optimizer, 1e-3, 1.0)
}

fn main() {}
