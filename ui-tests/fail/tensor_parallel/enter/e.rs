//! A tensor that enters keeps its element type.
//! Covers `E` of `tensor_parallel::enter`.
//! Right with `f32` for `f64` in line 12.
//! Mutants cover `Axis` by `Tp`, `Dims` by `EmbedDim` of `tensor_parallel::enter`.
//! Mutants cover `Axis` by `Tp` of `ranks::Entered`.
use typed_transformer::{prelude::*, ranks, ranks::Ranks, tensor_parallel::{Entered, enter}};

ranks! { Tp = 2; }
dims! { EmbedDim = 8; SeqLen; Batch; }

fn f(
    x: Tensor<(Batch, SeqLen, EmbedDim), f64, Cpu>,
    tp: &Ranks<Tp>,
) -> Result<Entered<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, Tp>, OpError> {
    enter(x, tp)
}

fn main() {}
