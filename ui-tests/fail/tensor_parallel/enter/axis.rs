//! A tensor enters the ranks of one axis.
//! Covers `Axis` of `tensor_parallel::enter`.
//! Covers `Axis` of `tensor_parallel::Entered`.
//! Right with `Tp` for `Data` in line 10.
use typed_transformer::{prelude::*, ranks, ranks::Ranks, tensor_parallel::{Entered, enter}};

ranks! { Data; Tp = 2; }
dims! { EmbedDim = 8; SeqLen; Batch; }

fn f(x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, ranks: &Ranks<Data>) -> Entered<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, Tp> {
    enter(x, ranks)
}

fn main() {}
