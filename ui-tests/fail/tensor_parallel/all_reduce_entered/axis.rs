//! Terms of a sum over one axis of ranks are not summed over another.
//! Covers `Axis` of `tensor_parallel::all_reduce_entered`.
//! Right with `Tp` for `Data` in line 16.
//! Mutants cover `Dims` by `EmbedDim` of `tensor_parallel::all_reduce_entered`.
use typed_transformer::{
    prelude::*,
    ranks,
    ranks::{Partial, Ranks},
    tensor_parallel::{Entered, all_reduce_entered},
};

ranks! { Data; Tp = 2; }
dims! { EmbedDim = 8; SeqLen; Batch; }

fn f(
    terms: Partial<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, Data>,
    tp: &Ranks<Tp>,
) -> Result<Entered<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, Tp>, OpError> {
    all_reduce_entered(terms, tp)
}

fn main() {}
