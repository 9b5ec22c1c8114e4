//! A reduction takes the ranks' terms: they cannot be summed a second time.
//! Right with `drop(&first)` for `gradients.all_reduce(ranks, model)?` in line 15.
use typed_transformer::{nn::Linear, prelude::*, ranks, ranks::*, train::*};

ranks! { World; Tp = 2; }
dims! { Letters = 28; EmbedDim = 8; }

type LmHead = Linear<EmbedDim, Letters, f32, Cpu>;

fn sum(
    ranks: &Ranks<World>,
    model: &Replicated<LmHead, World>,
    gradients: Partial<GradientsOf<LmHead, f32, Cpu>, World>,
) -> Result<(), RanksError> {
    let first = gradients.all_reduce(ranks, model)?;
    gradients.all_reduce(ranks, model)?;
    drop(first);
    Ok(())
}

fn main() {}
