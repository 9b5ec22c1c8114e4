//! A gather keeps the other dimensions.
//! Covers `Dims` of `tensor_parallel::all_gather`.
//! Right with `SeqLen` for `OtherLen` in line 15.
//! Mutants cover `Axis` by `Tp`, `Name` by `HiddenDim` of `tensor_parallel::all_gather`.
use typed_transformer::{
    prelude::*,
    ranks,
    ranks::{Ranks, Shard},
    tensor_parallel::{Entered, all_gather},
};

ranks! { Tp = 2; }
dims! { HiddenDim = 16; SeqLen; OtherLen; Batch; }

fn f(x: Tensor<(Batch, OtherLen, Shard<HiddenDim, Tp>), f32, Cpu>, tp: &Ranks<Tp>) -> Entered<Tensor<(Batch, SeqLen, HiddenDim), f32, Cpu>, Tp> {
    all_gather(x, axis::<HiddenDim>(), tp)
}

fn main() {}
