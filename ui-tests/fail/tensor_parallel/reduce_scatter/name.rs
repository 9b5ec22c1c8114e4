//! The ranks divide an axis that the sum has.
//! Covers `Name` of `tensor_parallel::reduce_scatter`.
//! Right with `HiddenDim` for `EmbedDim` in line 15.
use typed_transformer::{
    prelude::*,
    ranks,
    ranks::{Partial, Ranks},
    tensor_parallel::reduce_scatter,
};

ranks! { Tp = 2; }
dims! { EmbedDim = 8; HiddenDim = 16; SeqLen; Batch; }

fn f(terms: Partial<Tensor<(Batch, SeqLen, HiddenDim), f32, Cpu>, Tp>, tp: &Ranks<Tp>) {
    let _part = reduce_scatter(terms, axis::<EmbedDim>(), tp);
}

fn main() {}
