//! The parts of a sum keep its other dimensions.
//! Covers `Dims` of `tensor_parallel::reduce_scatter`.
//! Right with `SeqLen` for `OtherLen` in line 15.
//! Mutants cover `Axis` by `Tp`, `Name` by `HiddenDim` of `tensor_parallel::reduce_scatter`.
use typed_transformer::{
    prelude::*,
    ranks,
    ranks::{Partial, Ranks, Shard},
    tensor_parallel::reduce_scatter,
};

ranks! { Tp = 2; }
dims! { HiddenDim = 16; SeqLen; OtherLen; Batch; }

fn f(terms: Partial<Tensor<(Batch, OtherLen, HiddenDim), f32, Cpu>, Tp>, tp: &Ranks<Tp>) -> Tensor<(Batch, SeqLen, Shard<HiddenDim, Tp>), f32, Cpu> {
    reduce_scatter(terms, axis::<HiddenDim>(), tp)
}

fn main() {}
