//! A gather gives the whole axis.
//! Covers `Whole` of `tensor_parallel::CanGather`.
//! Right with `HiddenDim` for `EmbedDim` in line 9.
use typed_transformer::{prelude::*, ranks, ranks::Shard, tensor_parallel::CanGather};

ranks! { Other = 2; Tp = 2; }
dims! { EmbedDim = 8; HiddenDim = 16; SeqLen; }

fn allows<Dims: CanGather<HiddenDim, Tp, WhichAxis, Whole = (SeqLen, EmbedDim)>, WhichAxis>() {}

fn f() {
    allows::<(SeqLen, Shard<HiddenDim, Tp>), _>();
}

fn main() {}
