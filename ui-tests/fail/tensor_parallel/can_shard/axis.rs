//! The ranks of one axis have its parts.
//! Covers `Axis` of `tensor_parallel::CanShard`.
//! Right with `Tp` for `Other` in line 11.
//! Mutants cover `Name` by `HiddenDim`, `Self` by `HiddenDim` of `tensor_parallel::CanShard`.
//! Mutants cover `Shards` by `HiddenDim` of `tensor_parallel::CanShard`.
use typed_transformer::{prelude::*, ranks, ranks::Shard, tensor_parallel::CanShard};

ranks! { Other = 2; Tp = 2; }
dims! { EmbedDim = 16; HiddenDim = 16; SeqLen; }

fn shard<Dims: CanShard<HiddenDim, Other, WhichAxis>, WhichAxis>(dims: Dims) -> Dims::Shards {
    dims.shards()
}

fn f(whole: (SeqLen, HiddenDim)) -> (SeqLen, Shard<HiddenDim, Tp>) {
    shard(whole)
}

fn main() {}
