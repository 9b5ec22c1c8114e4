//! The rows of a cache are reordered by rows of its own batch.
//! Covers `B` of `nn::EditableCache`.
//! Right with `Beams` for `Batch` in line 10.
use typed_transformer::{nn::EditableCache, prelude::*, tokens::Indices};

dims! { Batch; Beams; }

type Rows = Indices<(Beams,), Beams>;

fn reorder(cache: &mut impl EditableCache<Batch>, rows: &Rows) -> Result<(), OpError> {
    cache.reorder(rows)
}

fn main() {}
