//! The labels of a rank are indices of the classes that are asked for.
//! Covers `Classes` of `ops::ShardedLabels`.
//! Right with `Right` for `Wrong` in line 13.
use typed_transformer::{ops::ShardedLabels, prelude::*, ranks, ranks::Shard, tokens::Indices};

ranks! { World; Data; }
dims! { Letters = 28; Sounds = 28; SeqLen; Other; Batch; }

type Right = Indices<(Shard<Batch, World>, SeqLen), Letters>;
type Wrong = Indices<(Shard<Batch, World>, SeqLen), Sounds>;
type Positions = (Shard<Batch, World>, SeqLen);
fn rows(_: &impl ShardedLabels<Positions, Letters, World>) {}
fn loss(labels: &Wrong) {
    rows(labels);
}

fn main() {}
