//! A tensor that has entered one axis of ranks has not entered another.
//! Covers `Axis` of `ranks::Entered`.
//! Right with `Tp` for `Data` in line 10.
//! Mutants cover `X` by `SeqLen` of `ranks::Entered`.
use typed_transformer::{prelude::*, ranks, ranks::Entered};

ranks! { Data; Tp = 2; }
dims! { EmbedDim = 8; SeqLen; Batch; }

fn f(x: Entered<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, Data>) -> Entered<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, Tp> {
    x
}

fn main() {}
