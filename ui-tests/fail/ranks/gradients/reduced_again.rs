//! A reduction takes the ranks' terms: they cannot be summed a second time.
//! Right with `others` for `gradients` in line 18.
use typed_transformer::{nn::Linear, prelude::*, ranks, ranks::*, train::*};

ranks! { World; Tp = 2; }
dims! { Letters = 28; EmbedDim = 8; }

type LmHead = Linear<EmbedDim, Letters, f32, Cpu>;

type Term = Partial<GradientsOf<LmHead, f32, Cpu>, World>;

fn sum(
    ranks: &Ranks<World>,
    model: &Replicated<LmHead, World>,
    [gradients, others]: [Term; 2],
) -> Result<(), RanksError> {
    let first = gradients.all_reduce(ranks, model)?;
    let second = gradients.all_reduce(ranks, model)?;
    drop((first, second));
    Ok(())
}

fn main() {}
