//! The product is that of the left indices.
//! Covers `Left` of `ops::ravel_multi_index`.
//! Right with `Height` for `Width` in line 9.
use typed_transformer::{ops::ravel_multi_index, prelude::*, tokens::Indices};

dims! { Height = 4; Width = 4; Batch; Other; }

fn pixels(
    row: &Indices<(Batch,), Width>,
    column: &Indices<(Batch,), Width>,
) -> Indices<(Batch,), Product<Height, Width>> {
    ravel_multi_index(row, column)
}

fn main() {}
