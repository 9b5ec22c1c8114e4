//! A reduction takes the ranks' terms: they cannot be summed a second time.
//! Right with `others` for `terms` in line 14.
use typed_transformer::{nn::Linear, prelude::*, ranks, ranks::{Partial, Ranks, RanksError, Replicated}, train::GradientsOf};

ranks! { World; }
dims! { Letters = 28; EmbedDim = 8; }

type LmHead = Linear<EmbedDim, Letters, f32, Cpu>;
type Terms = Partial<GradientsOf<LmHead, f32, Cpu>, World>;

fn sum(ranks: &Ranks<World>, model: &Replicated<LmHead, World>, terms: Terms, others: Terms) -> Result<(), RanksError> {
    let _others = &others;
    let first = terms.all_reduce(ranks, model)?;
    let second = terms.all_reduce(ranks, model)?;
    drop((first, second));
    Ok(())
}

fn main() {}
