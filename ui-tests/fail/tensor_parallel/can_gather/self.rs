//! A gather joins parts: a whole axis has none.
//! Covers `Self` of `tensor_parallel::CanGather`.
//! Right with `Part` for `HiddenDim` in line 15.
//! Mutants cover `Axis` by `Tp`, `Name` by `HiddenDim`, `Whole` by `HiddenDim` of `tensor_parallel::CanGather`.
use typed_transformer::{prelude::*, ranks, ranks::Shard, tensor_parallel::CanGather};

ranks! { Tp = 2; }
dims! { HiddenDim = 16; SeqLen; }

type Part = Shard<HiddenDim, Tp>;

fn gather<Dims: CanGather<HiddenDim, Tp, WhichAxis>, WhichAxis>() {}

fn f() {
    gather::<(SeqLen, HiddenDim), _>();
}

fn main() {}
