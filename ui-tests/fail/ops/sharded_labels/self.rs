//! The labels of a rank are those of its own rows.
//! Covers `Self` of `ops::ShardedLabels`.
//! Right with `Right` for `Wrong` in line 13.
use typed_transformer::{ops::ShardedLabels, prelude::*, ranks, ranks::Shard};

ranks! { World; Data; }
dims! { Letters = 28; Sounds = 28; SeqLen; Other; Batch; }

type Right = LabelIds<Shard<Batch, World>, SeqLen, Letters>;
type Wrong = LabelIds<Batch, SeqLen, Letters>;
type Positions = (Shard<Batch, World>, SeqLen);
fn rows(_: &impl ShardedLabels<Positions, Letters, World>) {}
fn loss(labels: &Wrong) {
    rows(labels);
}

fn main() {}
