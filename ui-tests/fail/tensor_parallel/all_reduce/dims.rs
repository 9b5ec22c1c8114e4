//! The sum of terms has their dimensions.
//! Covers `Dims` of `tensor_parallel::all_reduce`.
//! Right with `EmbedDim` for `HiddenDim` in line 9.
use typed_transformer::{prelude::*, ranks, ranks::{Partial, Ranks}, tensor_parallel::all_reduce};

ranks! { Tp = 2; }
dims! { EmbedDim = 8; HiddenDim = 16; SeqLen; Batch; }

fn f(terms: Partial<Tensor<(Batch, SeqLen, HiddenDim), f32, Cpu>, Tp>, tp: &Ranks<Tp>) -> Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> {
    all_reduce(terms, tp)
}

fn main() {}
