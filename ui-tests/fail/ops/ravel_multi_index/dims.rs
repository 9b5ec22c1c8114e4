//! Both indices have the same axes.
//! Covers `Dims` of `ops::ravel_multi_index`.
//! Right with `Batch` for `Other` in line 10.
//! Mutants cover `Left` by `Height`, `Right` by `Width` of `ops::ravel_multi_index`.
use typed_transformer::{ops::ravel_multi_index, prelude::*, tokens::Indices};

dims! { Height = 4; Width = 4; Batch; Other; }

fn pixels(
    row: &Indices<(Other,), Height>,
    column: &Indices<(Batch,), Width>,
) -> Indices<(Batch,), Product<Height, Width>> {
    ravel_multi_index(row, column)
}

fn main() {}
