//! The ranks divide an axis that is whole.
//! Covers `Self` of `tensor_parallel::CanShard`.
//! Right with `HiddenDim` for `Part` in line 14.
use typed_transformer::{prelude::*, ranks, ranks::Shard, tensor_parallel::CanShard};

ranks! { Other = 2; Tp = 2; }
dims! { EmbedDim = 8; HiddenDim = 16; SeqLen; }

type Part = Shard<HiddenDim, Tp>;

fn allows<Dims: CanShard<HiddenDim, Tp, WhichAxis, Shards = (SeqLen, Shard<HiddenDim, Tp>)>, WhichAxis>() {}

fn f() {
    allows::<(SeqLen, Part), _>();
}

fn main() {}
