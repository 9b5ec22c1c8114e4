//! A sum over some ranks is not one over others.
//! Covers `Axis` of `ranks::ReducedOver`.
//! Right with `World` for `Data` in line 11.
use typed_transformer::{prelude::*, ranks, ranks::{ReducedOver, Replicated}};

ranks! { World; Data; Tp = 2; Other = 2; }
dims! { EmbedDim = 8; Letters = 28; Sounds = 28; SeqLen; OtherLen; Batch; Rows; }

fn show(_: impl ReducedOver<f64, World>) {}

fn f(loss: Replicated<f64, Data>) {
    show(loss);
}

fn main() {}
