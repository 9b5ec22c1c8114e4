//! Terms of a sum over `World` are not summed over `Tp`.
//! Right with `World` for `Tp` in line 11.
use typed_transformer::{nn::Linear, prelude::*, ranks, ranks::*, train::*};

ranks! { World; Tp = 2; }
dims! { Letters = 28; EmbedDim = 8; }

type LmHead = Linear<EmbedDim, Letters, f32, Cpu>;

fn sum(
    ranks: &Ranks<Tp>,
    model: &Replicated<LmHead, World>,
    gradients: Partial<GradientsOf<LmHead, f32, Cpu>, World>,
) -> Result<Replicated<GradientsOf<LmHead, f32, Cpu>, World>, RanksError> {
    gradients.all_reduce(ranks, model)
}

fn main() {}
