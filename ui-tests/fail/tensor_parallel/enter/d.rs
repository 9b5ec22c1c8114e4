//! A tensor that enters stays on its device.
//! Covers `D` of `tensor_parallel::enter`.
//! Right with `Cpu` for `D` in line 10.
use typed_transformer::{prelude::*, ranks, ranks::Ranks, tensor_parallel::{Entered, enter}};

ranks! { Tp = 2; }
dims! { EmbedDim = 8; SeqLen; Batch; }

fn f<D: Device<f32>>(
    x: Tensor<(Batch, SeqLen, EmbedDim), f32, D>,
    tp: &Ranks<Tp>,
) -> Result<Entered<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, Tp>, OpError> {
    enter(x, tp)
}

fn main() {}
