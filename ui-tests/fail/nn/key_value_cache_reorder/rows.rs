//! A cache has a new row for each row of its batch.
//! Right with `Beams` for `Kept` in line 9.
use typed_transformer::{nn::{EditableCache, KeyValueCache}, prelude::*};

dims! { MaxLen = 16; Beams = 4; Kept = 4; }

fn reorder<A: Arch>(
    cache: &mut KeyValueCache<Beams, MaxLen, A, f32, Cpu>,
    rows: &Indices<(Kept,), Beams>,
) -> Result<(), OpError> {
    cache.reorder(rows)
}

fn main() {}
