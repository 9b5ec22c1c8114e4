//! A tensor enters before each rank takes its part.
//! Covers `Input` of `tensor_parallel::shard`.
//! Right with `In` for `Whole` in line 18.
//! Mutants cover `Axis` by `Tp`, `Dims` by `SeqLen`, `Name` by `HiddenDim` of `tensor_parallel::shard`.
use typed_transformer::{
    prelude::*,
    ranks,
    ranks::{Ranks, Shard},
    tensor_parallel::{Entered, shard},
};

ranks! { Tp = 2; }
dims! { HiddenDim = 16; SeqLen; Batch; }

type Whole = Tensor<(Batch, SeqLen, HiddenDim), f32, Cpu>;
type In = Entered<Whole, Tp>;

fn f(x: Whole, tp: &Ranks<Tp>) -> Result<Tensor<(Batch, SeqLen, Shard<HiddenDim, Tp>), f32, Cpu>, OpError> {
    shard(x, axis::<HiddenDim>(), tp)
}

fn main() {}
