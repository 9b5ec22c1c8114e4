//! The sum of terms has their dimensions.
//! Covers `Dims` of `tensor_parallel::all_reduce_entered`.
//! Right with `EmbedDim` for `HiddenDim` in line 14.
use typed_transformer::{
    prelude::*,
    ranks,
    ranks::{Partial, Ranks},
    tensor_parallel::{Entered, all_reduce_entered},
};

ranks! { Tp = 2; }
dims! { EmbedDim = 8; HiddenDim = 16; SeqLen; Batch; }

fn f(terms: Partial<Tensor<(Batch, SeqLen, HiddenDim), f32, Cpu>, Tp>, tp: &Ranks<Tp>) -> Entered<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, Tp> {
    all_reduce_entered(terms, tp)
}

fn main() {}
