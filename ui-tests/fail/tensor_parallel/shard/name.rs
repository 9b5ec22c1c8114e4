//! A rank takes its part of an axis that the tensor has.
//! Covers `Name` of `tensor_parallel::shard`.
//! Right with `HiddenDim` for `EmbedDim` in line 10.
use typed_transformer::{prelude::*, ranks, ranks::Ranks, tensor_parallel::{Entered, shard}};

ranks! { Tp = 2; }
dims! { EmbedDim = 8; HiddenDim = 16; SeqLen; Batch; }

fn f(x: Entered<Tensor<(Batch, SeqLen, HiddenDim), f32, Cpu>, Tp>, tp: &Ranks<Tp>) {
    let _part = shard(x, axis::<EmbedDim>(), tp);
}

fn main() {}
