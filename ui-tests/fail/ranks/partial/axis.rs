//! Terms of sums over two axes of ranks do not mix.
//! Covers `Axis` of `ranks::Partial`.
//! Right with `World` for `Data` in line 9.
use typed_transformer::{prelude::*, ranks, ranks::Partial};

ranks! { World; Data; Tp = 2; Other = 2; }
dims! { EmbedDim = 8; Letters = 28; Sounds = 28; SeqLen; OtherLen; Batch; Rows; }

fn keep(loss: Partial<f64, Data>) {
    let _loss: Partial<f64, World> = loss;
}

fn main() {}
