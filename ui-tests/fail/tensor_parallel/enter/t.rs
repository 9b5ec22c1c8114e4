//! A tensor that enters keeps its tape.
//! Covers `T` of `tensor_parallel::enter`.
//! Right with `NoneTape` for `Taped` in line 12.
use typed_transformer::{prelude::*, ranks, ranks::Ranks, tensor_parallel::{Entered, enter}};

ranks! { Tp = 2; }
dims! { EmbedDim = 8; SeqLen; Batch; }

type Taped = typed_transformer::train::Recording<(), f32, Cpu>;

fn f(
    x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu, Taped>,
    tp: &Ranks<Tp>,
) -> Result<Entered<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, Tp>, OpError> {
    enter(x, tp)
}

fn main() {}
