//! Terms of a sum over one axis of ranks are not summed over another.
//! Covers `Axis` of `tensor_parallel::all_reduce`.
//! Right with `Tp` for `Data` in line 11.
//! Mutants cover `Dims` by `EmbedDim` of `tensor_parallel::all_reduce`.
use typed_transformer::{prelude::*, ranks, ranks::{Partial, Ranks}, tensor_parallel::all_reduce};

ranks! { Data; Tp = 2; }
dims! { EmbedDim = 8; SeqLen; Batch; }

fn f(
    terms: Partial<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, Data>,
    tp: &Ranks<Tp>,
) -> Result<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, OpError> {
    all_reduce(terms, tp)
}

fn main() {}
