//! A gather before an operation with shards sums the ranks' terms of its gradient.
//! Right with `all_gather_entered` for `all_gather` in line 16.
use typed_transformer::{
    prelude::*,
    ranks,
    ranks::{Ranks, Shard},
    tensor_parallel::{self, linear_column},
};

ranks! { Tp = 2; }
dims! { HiddenDim = 16; SeqLen; Batch; }

type Hidden = Tensor<(Batch, SeqLen, Shard<HiddenDim, Tp>), f32, Cpu>;

fn f(hidden: Hidden, weight: &Tensor<(Shard<HiddenDim, Tp>, HiddenDim), f32, Cpu>, tp: &Ranks<Tp>) {
    let whole = tensor_parallel::all_gather(hidden, axis::<HiddenDim>(), tp).unwrap();
    let _ = linear_column(whole, weight, None).unwrap();
}

fn main() {}
