//! A number of one rank is not a sum over the ranks.
//! Covers `Self` of `ranks::ReducedOver`.
//! Right with `Sum` for `f64` in line 13.
use typed_transformer::{prelude::*, ranks, ranks::{ReducedOver, Replicated}};

ranks! { World; Data; Tp = 2; Other = 2; }
dims! { EmbedDim = 8; Letters = 28; Sounds = 28; SeqLen; OtherLen; Batch; Rows; }

type Sum = Replicated<f64, World>;

fn show(_: impl ReducedOver<f64, World>) {}

fn f(loss: f64) {
    show(loss);
}

fn main() {}
