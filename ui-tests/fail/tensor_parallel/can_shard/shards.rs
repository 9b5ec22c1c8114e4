//! The part is one of the axis.
//! Covers `Shards` of `tensor_parallel::CanShard`.
//! Right with `HiddenDim` for `EmbedDim` in line 13.
use typed_transformer::{prelude::*, ranks, ranks::Shard, tensor_parallel::CanShard};

ranks! { Other = 2; Tp = 2; }
dims! { EmbedDim = 16; HiddenDim = 16; SeqLen; }

fn shard<Dims: CanShard<HiddenDim, Tp, WhichAxis>, WhichAxis>(dims: Dims) -> Dims::Shards {
    dims.shards()
}

fn f(whole: (SeqLen, HiddenDim)) -> (SeqLen, Shard<EmbedDim, Tp>) {
    shard(whole)
}

fn main() {}
