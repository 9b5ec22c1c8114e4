//! A tensor has entered the ranks that its operation names.
//! Covers `Axis` of `tensor_parallel::EnteredOver`.
//! Right with `Tp` for `Data` in line 9.
use typed_transformer::{prelude::*, ranks, tensor_parallel::{Entered, EnteredOver}};

ranks! { Data; Tp = 2; }
dims! { EmbedDim = 8; SeqLen; Batch; }

fn has_entered(_: impl EnteredOver<Data>) {}

fn f(x: Entered<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, Tp>) {
    has_entered(x);
}

fn main() {}
