//! A shard keeps the other dimensions.
//! Covers `Dims` of `tensor_parallel::shard`.
//! Right with `SeqLen` for `OtherLen` in line 14.
use typed_transformer::{
    prelude::*,
    ranks,
    ranks::{Ranks, Shard},
    tensor_parallel::{Entered, shard},
};

ranks! { Tp = 2; }
dims! { HiddenDim = 16; SeqLen; OtherLen; Batch; }

fn f(x: Entered<Tensor<(Batch, OtherLen, HiddenDim), f32, Cpu>, Tp>, tp: &Ranks<Tp>) -> Tensor<(Batch, SeqLen, Shard<HiddenDim, Tp>), f32, Cpu> {
    shard(x, axis::<HiddenDim>(), tp)
}

fn main() {}
