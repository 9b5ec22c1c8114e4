//! Terms of a sum over one axis of ranks are not summed over another.
//! Covers `Axis` of `tensor_parallel::reduce_scatter`.
//! Right with `Tp` for `Data` in line 14.
use typed_transformer::{
    prelude::*,
    ranks,
    ranks::{Partial, Ranks},
    tensor_parallel::reduce_scatter,
};

ranks! { Data; Tp = 2; }
dims! { HiddenDim = 16; SeqLen; Batch; }

fn f(terms: Partial<Tensor<(Batch, SeqLen, HiddenDim), f32, Cpu>, Tp>, ranks: &Ranks<Data>) {
    let _part = reduce_scatter(terms, axis::<HiddenDim>(), ranks);
}

fn main() {}
