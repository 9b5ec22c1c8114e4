//! A rank takes its part of what has entered its ranks.
//! Covers `Axis` of `tensor_parallel::shard`.
//! Right with `Tp` for `Data` in line 9.
use typed_transformer::{prelude::*, ranks, ranks::Ranks, tensor_parallel::{Entered, shard}};

ranks! { Data = 2; Tp = 2; }
dims! { HiddenDim = 16; SeqLen; Batch; }

fn f(x: Entered<Tensor<(Batch, SeqLen, HiddenDim), f32, Cpu>, Data>, tp: &Ranks<Tp>) {
    let _part = shard(x, axis::<HiddenDim>(), tp);
}

fn main() {}
