//! Ranks divide the first factor of a product.
//! Right with `HeadDim` for `Part` in line 9.
use typed_transformer::{dims::Factor, prelude::*, ranks, ranks::Shard};

dims! { NumHeads = 8; HeadDim = 4; }
ranks! { Tp = 2; }

type Part = Shard<NumHeads, Tp>;
type Columns = Product<NumHeads, Part>;

fn num_columns<H: Factor>() -> usize {
    H::SIZE
}

const _: fn() -> usize = num_columns::<Columns>;

fn main() {}
