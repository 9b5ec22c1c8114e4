//! The ranks divide a dimension without remainder.
//! Right with `2` for `3` in line 10.
use typed_transformer::{
    prelude::*,
    ranks,
    ranks::{Ranks, Shard},
    tensor_parallel::{Entered, shard},
};

ranks! { Tp = 3; }
dims! { HiddenDim = 16; SeqLen; }

type In = Entered<Tensor<(SeqLen, HiddenDim), f32, Cpu>, Tp>;

fn f(x: In, tp: &Ranks<Tp>) -> Result<Tensor<(SeqLen, Shard<HiddenDim, Tp>), f32, Cpu>, OpError> {
    shard(x, axis::<HiddenDim>(), tp)
}

fn main() {}
