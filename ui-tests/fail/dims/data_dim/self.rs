//! An axis of ranks whose size is not in its type is not a dimension.
//! Covers `Self` of `dims::DataDim`.
//! Right with `Batch` for `World` in line 12.
use typed_transformer::{prelude::*, ranks};

ranks! { World; }
dims! { Batch; }

fn repeat<Rows: DataDim>() {}

fn f() {
    repeat::<World>();
}

fn main() {}
