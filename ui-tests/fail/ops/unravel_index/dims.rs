//! The indices of the factors have the axes of the indices of the product.
//! Covers `Dims` of `ops::unravel_index`.
//! Right with `Batch` for `Other` in line 10.
//! Mutants cover `Left` by `Height` of `ops::unravel_index`.
use typed_transformer::{ops::unravel_index, prelude::*, tokens::Indices};

dims! { Height = 4; Width = 4; Batch; Other; }

fn of_pixels(pixels: &Indices<(Batch,), Product<Height, Width>>) {
    let _row: Indices<(Other,), Height> = unravel_index(pixels).0;
}

fn main() {}
