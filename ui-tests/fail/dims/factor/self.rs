//! The heads of a projection, all of them or those of a rank, are counted at compile time.
//! Covers `Self` of `dims::Factor`.
//! Right with `NumHeads` for `SeqLen` in line 8.
use typed_transformer::{dims::Factor, prelude::*};

dims! { SeqLen; NumHeads = 8; HeadDim = 4; }

type Heads = SeqLen;

fn num_columns<H: Factor>() -> usize {
    Product::<H, HeadDim>::SIZE
}

const _: fn() -> usize = num_columns::<Heads>;

fn main() {}
