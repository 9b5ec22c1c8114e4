//! A gather for an operation with shards sums its gradient, so an operation of each rank alone does not take it.
//! Right with `all_gather` for `all_gather_entered` in line 14.
use typed_transformer::{
    prelude::*,
    ranks,
    ranks::{Ranks, Shard},
    tensor_parallel,
};

ranks! { Tp = 2; }
dims! { HiddenDim = 16; SeqLen; Batch; }

fn f(part: Tensor<(Batch, SeqLen, Shard<HiddenDim, Tp>), f32, Cpu>, weight: &Tensor<(HiddenDim,), f32, Cpu>, tp: &Ranks<Tp>) {
    let whole = tensor_parallel::all_gather_entered(part, axis::<HiddenDim>(), tp).unwrap();
    let _ = rms_norm(whole, weight, 1e-5).unwrap();
}

fn main() {}
