//! A weight is not applied along an axis that is divided among ranks of a model.
//! Covers `Self` of `dims::DataShape`.
//! Right with `SeqLen` for `Part` in line 14.
use typed_transformer::{dims::DataShape, prelude::*, ranks, ranks::Shard};

ranks! { Tp = 2; }
dims! { EmbedDim = 8; SeqLen = 6; Batch; }

type Part = Shard<SeqLen, Tp>;

fn weighted<Dims: DataShape>() {}

fn f() {
    weighted::<(Batch, Part, EmbedDim)>();
}

fn main() {}
