//! A gather gives the whole axis.
//! Covers `Whole` of `tensor_parallel::CanGather`.
//! Right with `HiddenDim` for `EmbedDim` in line 13.
use typed_transformer::{prelude::*, ranks, ranks::Shard, tensor_parallel::CanGather};

ranks! { Other = 2; Tp = 2; }
dims! { EmbedDim = 16; HiddenDim = 16; SeqLen; }

fn gather<Dims: CanGather<HiddenDim, Tp, WhichAxis>, WhichAxis>(dims: Dims) -> Dims::Whole {
    dims.whole()
}

fn f(part: (SeqLen, Shard<HiddenDim, Tp>)) -> (SeqLen, EmbedDim) {
    gather(part)
}

fn main() {}
