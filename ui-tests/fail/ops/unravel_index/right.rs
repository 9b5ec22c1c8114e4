//! The second indices are those of the right factor.
//! Covers `Right` of `ops::unravel_index`.
//! Right with `Width` for `Height` in line 10.
//! Mutants cover `Dims` by `Batch` of `ops::unravel_index`.
use typed_transformer::{ops::unravel_index, prelude::*, tokens::Indices};

dims! { Height = 4; Width = 4; Batch; Other; }

fn of_pixels(pixels: &Indices<(Batch,), Product<Height, Width>>) {
    let _row: Indices<(Batch,), Height> = unravel_index(pixels).1;
}

fn main() {}
