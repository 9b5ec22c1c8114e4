//! The threads return what the function returns.
//! Covers `Value` of `ranks::Ranks::in_threads`.
//! Right with `usize` for `f64` in line 10.
use typed_transformer::{prelude::*, ranks, ranks::Ranks};

ranks! { World; Data; Tp = 2; Other = 2; }
dims! { EmbedDim = 8; Letters = 28; Sounds = 28; SeqLen; OtherLen; Batch; Rows; }

fn count() {
    let _places: Vec<f64> = Ranks::<World>::in_threads(2, |ranks| ranks.rank());
}

fn main() {}
