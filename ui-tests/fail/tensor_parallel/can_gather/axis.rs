//! The ranks that join an axis are those that divide it.
//! Covers `Axis` of `tensor_parallel::CanGather`.
//! Right with `Tp` for `Other` in line 9.
use typed_transformer::{prelude::*, ranks, ranks::Shard, tensor_parallel::CanGather};

ranks! { Other = 2; Tp = 2; }
dims! { EmbedDim = 8; HiddenDim = 16; SeqLen; }

fn allows<Dims: CanGather<HiddenDim, Other, WhichAxis, Whole = (SeqLen, HiddenDim)>, WhichAxis>() {}

fn f() {
    allows::<(SeqLen, Shard<HiddenDim, Tp>), _>();
}

fn main() {}
