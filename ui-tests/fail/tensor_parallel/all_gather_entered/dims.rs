//! A gather for an operation with shards keeps the other dimensions.
//! Covers `Dims` of `tensor_parallel::all_gather_entered`.
//! Right with `SeqLen` for `OtherLen` in line 18.
//! Mutants cover `Axis` by `Tp`, `Name` by `HiddenDim` of `tensor_parallel::all_gather_entered`.
use typed_transformer::{
    prelude::*,
    ranks,
    ranks::{Ranks, Shard},
    tensor_parallel::{Entered, all_gather_entered},
};

ranks! { Tp = 2; }
dims! { HiddenDim = 16; SeqLen; OtherLen; Batch; }

type Part<Len> = Tensor<(Batch, Len, Shard<HiddenDim, Tp>), f32, Cpu>;
type Whole<Len> = Entered<Tensor<(Batch, Len, HiddenDim), f32, Cpu>, Tp>;

fn f(x: Part<OtherLen>, tp: &Ranks<Tp>) -> Result<Whole<SeqLen>, OpError> {
    all_gather_entered(x, axis::<HiddenDim>(), tp)
}

fn main() {}
