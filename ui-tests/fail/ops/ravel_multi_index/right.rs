//! The product is that of the right indices.
//! Covers `Right` of `ops::ravel_multi_index`.
//! Right with `Width` for `Height` in line 10.
use typed_transformer::{ops::ravel_multi_index, prelude::*, tokens::Indices};

dims! { Height = 4; Width = 4; Batch; Other; }

fn pixels(
    row: &Indices<(Batch,), Height>,
    column: &Indices<(Batch,), Height>,
) -> Indices<(Batch,), Product<Height, Width>> {
    ravel_multi_index(row, column)
}

fn main() {}
