//! A tensor that enters keeps its dimensions.
//! Covers `Dims` of `tensor_parallel::enter`.
//! Right with `EmbedDim` for `HiddenDim` in line 9.
use typed_transformer::{prelude::*, ranks, ranks::Ranks, tensor_parallel::{Entered, enter}};

ranks! { Tp = 2; }
dims! { EmbedDim = 8; HiddenDim = 16; SeqLen; Batch; }

fn f(x: Tensor<(Batch, SeqLen, HiddenDim), f32, Cpu>, tp: &Ranks<Tp>) -> Entered<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, Tp> {
    enter(x, tp)
}

fn main() {}
