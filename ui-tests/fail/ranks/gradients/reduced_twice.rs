//! Gradients that are summed over the ranks are not summed again.
//! Right with `Partial` for `Replicated` in line 13.
use typed_transformer::{nn::Linear, prelude::*, ranks, ranks::*, train::*};

ranks! { World; Tp = 2; }
dims! { Letters = 28; EmbedDim = 8; }

type LmHead = Linear<EmbedDim, Letters, f32, Cpu>;

fn sum(
    ranks: &Ranks<World>,
    model: &Replicated<LmHead, World>,
    gradients: Replicated<GradientsOf<LmHead, f32, Cpu>, World>,
) -> Result<Replicated<GradientsOf<LmHead, f32, Cpu>, World>, RanksError> {
    gradients.all_reduce(ranks, model)
}

fn main() {}
