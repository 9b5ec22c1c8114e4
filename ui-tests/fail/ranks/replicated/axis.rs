//! A value that some ranks have is not one that others have.
//! Covers `Axis` of `ranks::Replicated`.
//! Right with `World` for `Data` in line 9.
use typed_transformer::{prelude::*, ranks, ranks::Replicated};

ranks! { World; Data; Tp = 2; Other = 2; }
dims! { EmbedDim = 8; Letters = 28; Sounds = 28; SeqLen; OtherLen; Batch; Rows; }

fn keep(loss: Replicated<f64, Data>) {
    let _loss: Replicated<f64, World> = loss;
}

fn main() {}
