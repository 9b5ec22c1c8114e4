//! `same` compares two sizes of one dimension.
//! Covers `Any` of `dims::check_same_size`.
//! Right with `Batch` for `OtherBatch` in line 8.
use typed_transformer::{dims::check_same_size, prelude::*};

dims! { Batch; OtherBatch; }

fn check(batch: Batch, other: OtherBatch) -> Result<(), DimError> {
    check_same_size("the source", batch, "the target", other)
}

fn main() {}
