//! A tensor that enters stays on its device.
//! Covers `D` of `tensor_parallel::enter`.
//! Right with `Cpu` for the second `D` in line 9.
use typed_transformer::{prelude::*, ranks, ranks::Ranks, tensor_parallel::{Entered, enter}};

ranks! { Tp = 2; }
dims! { EmbedDim = 8; SeqLen; Batch; }

fn f<D: Device<f32>>(x: Tensor<(Batch, SeqLen, EmbedDim), f32, D>, tp: &Ranks<Tp>) -> Entered<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, Tp> {
    enter(x, tp)
}

fn main() {}
