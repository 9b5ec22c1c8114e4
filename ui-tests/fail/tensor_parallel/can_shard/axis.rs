//! The ranks of one axis share its parts.
//! Covers `Axis` of `tensor_parallel::CanShard`.
//! Right with `Tp` for `Other` in line 9.
use typed_transformer::{prelude::*, ranks, ranks::Shard, tensor_parallel::CanShard};

ranks! { Other = 2; Tp = 2; }
dims! { EmbedDim = 8; HiddenDim = 16; SeqLen; }

fn allows<Dims: CanShard<HiddenDim, Other, WhichAxis, Shards = (SeqLen, Shard<HiddenDim, Tp>)>, WhichAxis>() {}

fn f() {
    allows::<(SeqLen, HiddenDim), _>();
}

fn main() {}
