//! The first indices are those of the left factor.
//! Covers `Left` of `ops::unravel_index`.
//! Right with `Height` for `Width` in line 9.
use typed_transformer::{ops::unravel_index, prelude::*, tokens::Indices};

dims! { Height = 4; Width = 4; Batch; Other; }

fn of_pixels(pixels: &Indices<(Batch,), Product<Height, Width>>) {
    let _row: Indices<(Batch,), Width> = unravel_index(pixels).0;
}

fn main() {}
