//! A gather joins parts, not whole axes.
//! Covers `Self` of `tensor_parallel::CanGather`.
//! Right with `Part` for `HiddenDim` in line 12.
use typed_transformer::{prelude::*, ranks, tensor_parallel::CanGather};

ranks! { Other = 2; Tp = 2; }
dims! { EmbedDim = 8; HiddenDim = 16; SeqLen; }

fn allows<Dims: CanGather<HiddenDim, Tp, WhichAxis, Whole = (SeqLen, HiddenDim)>, WhichAxis>() {}

fn f() {
    allows::<(SeqLen, HiddenDim), _>();
}

fn main() {}
