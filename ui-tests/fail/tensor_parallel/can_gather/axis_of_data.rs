//! A gather joins parts of one size: an axis of ranks without a size has none.
//! Right with `Tp` for `World` in line 8.
use typed_transformer::{prelude::*, ranks, ranks::Shard, tensor_parallel::CanGather};

ranks! { World; Tp = 2; }
dims! { HiddenDim = 16; SeqLen; }

type Axis = World;

fn gather<Dims: CanGather<HiddenDim, Axis, WhichAxis>, WhichAxis>() {}

fn f() {
    gather::<(SeqLen, Shard<HiddenDim, Axis>), _>();
}

fn main() {}
