//! A sum has the dimensions of its terms.
//! Covers `X` of `ranks::ReducedOver`.
//! Right with `SeqLen` for `OtherLen` in line 12.
//! Mutants cover `Axis` by `World` of `ranks::ReducedOver`.
use typed_transformer::{prelude::*, ranks, ranks::{ReducedOver, Replicated}};

ranks! { World; Data; Tp = 2; Other = 2; }
dims! { EmbedDim = 8; Letters = 28; Sounds = 28; SeqLen; OtherLen; Batch; Rows; }

fn show(_: impl ReducedOver<Tensor<(SeqLen,), f32, Cpu>, World>) {}

fn f(sum: Replicated<Tensor<(OtherLen,), f32, Cpu>, World>) {
    show(sum);
}

fn main() {}
