//! Shards do not enter: an operation takes them as they are.
//! Covers `Self` of `tensor_parallel::CanEnter`.
//! Right with `HiddenDim` for `Part` in line 11.
use typed_transformer::{prelude::*, ranks, ranks::{Ranks, Shard}, tensor_parallel::enter};

ranks! { Tp = 2; }
dims! { HiddenDim = 16; SeqLen; Batch; }

type Part = Shard<HiddenDim, Tp>;

fn f(hidden: Tensor<(Batch, SeqLen, Part), f32, Cpu>, tp: &Ranks<Tp>) {
    let _entered = enter(hidden, tp).unwrap();
}

fn main() {}
