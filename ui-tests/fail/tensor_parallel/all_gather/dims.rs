//! A gather keeps the other dimensions.
//! Covers `Dims` of `tensor_parallel::all_gather`.
//! Right with `SeqLen` for `OtherLen` in line 18.
//! Mutants cover `Axis` by `Tp`, `Name` by `HiddenDim` of `tensor_parallel::all_gather`.
use typed_transformer::{
    prelude::*,
    ranks,
    ranks::{Ranks, Shard},
    tensor_parallel::all_gather,
};

ranks! { Tp = 2; }
dims! { HiddenDim = 16; SeqLen; OtherLen; Batch; }

type Part<Len> = Tensor<(Batch, Len, Shard<HiddenDim, Tp>), f32, Cpu>;
type Whole<Len> = Tensor<(Batch, Len, HiddenDim), f32, Cpu>;

fn f(x: Part<OtherLen>, tp: &Ranks<Tp>) -> Result<Whole<SeqLen>, OpError> {
    all_gather(x, axis::<HiddenDim>(), tp)
}

fn main() {}
