//! Ranks belong to an axis of ranks, not to a dimension.
//! Covers `Self` of `dims::RankAxis`.
//! Right with `World` for `Batch` in line 12.
use typed_transformer::{dims::RankAxis, prelude::*, ranks};

ranks! { World; Data; Tp = 2; Other = 2; }
dims! { EmbedDim = 8; Letters = 28; Sounds = 28; SeqLen; OtherLen; Batch; Rows; }

fn start<Axis: RankAxis>() {}

fn f() {
    start::<Batch>();
}

fn main() {}
