//! The axis is one of the tensor.
//! Covers `Name` of `tensor_parallel::CanShard`.
//! Right with `HiddenDim` for `EmbedDim` in line 9.
use typed_transformer::{prelude::*, ranks, ranks::Shard, tensor_parallel::CanShard};

ranks! { Other = 2; Tp = 2; }
dims! { EmbedDim = 8; HiddenDim = 16; SeqLen; }

fn allows<Dims: CanShard<EmbedDim, Tp, WhichAxis, Shards = (SeqLen, Shard<HiddenDim, Tp>)>, WhichAxis>() {}

fn f() {
    allows::<(SeqLen, HiddenDim), _>();
}

fn main() {}
