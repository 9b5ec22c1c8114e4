//! The ranks that share an axis divide it.
//! Covers `Axis` of `tensor_parallel::shard`.
//! Right with `Two` for the first `Three` in line 9.
use typed_transformer::{prelude::*, ranks, ranks::Ranks, tensor_parallel::{Entered, shard}};

ranks! { Two = 2; Three = 3; }
dims! { HiddenDim = 16; SeqLen; Batch; }

fn f(x: Entered<Tensor<(Batch, SeqLen, HiddenDim), f32, Cpu>, Three>, ranks: &Ranks<Three>) {
    let _part = shard(x, axis::<HiddenDim>(), ranks);
}

fn main() {}
