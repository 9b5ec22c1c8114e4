//! The parts of a sum keep its other dimensions.
//! Covers `Dims` of `tensor_parallel::reduce_scatter`.
//! Right with `SeqLen` for `OtherLen` in line 18.
//! Mutants cover `Axis` by `Tp`, `Name` by `HiddenDim` of `tensor_parallel::reduce_scatter`.
use typed_transformer::{
    prelude::*,
    ranks,
    ranks::{Partial, Ranks, Shard},
    tensor_parallel::reduce_scatter,
};

ranks! { Tp = 2; }
dims! { HiddenDim = 16; SeqLen; OtherLen; Batch; }

type Terms<Len> = Partial<Tensor<(Batch, Len, HiddenDim), f32, Cpu>, Tp>;
type Part<Len> = Tensor<(Batch, Len, Shard<HiddenDim, Tp>), f32, Cpu>;

fn f(terms: Terms<OtherLen>, tp: &Ranks<Tp>) -> Result<Part<SeqLen>, OpError> {
    reduce_scatter(terms, axis::<HiddenDim>(), tp)
}

fn main() {}
