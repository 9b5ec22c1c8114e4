//! A tensor enters before an operation with shards.
//! Covers `Self` of `tensor_parallel::EnteredOver`.
//! Right with `In` for `Same` in line 15.
//! Mutants cover `Axis` by `Tp` of `tensor_parallel::EnteredOver`.
use typed_transformer::{prelude::*, ranks, tensor_parallel::{Entered, EnteredOver}};

ranks! { Tp = 2; }
dims! { EmbedDim = 8; SeqLen; Batch; }

type Same = Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>;
type In = Entered<Same, Tp>;

fn has_entered(_: impl EnteredOver<Tp>) {}

fn f(x: Same) {
    has_entered(x);
}

fn main() {}
