//! `same` compares two sizes of one dimension.
//! Covers `Any` of `dims::same`.
//! Right with `Batch` for `OtherBatch` in line 8.
use typed_transformer::{dims::same, prelude::*};

dims! { Batch; OtherBatch; }

fn check(batch: Batch, other: OtherBatch) -> Result<(), DimError> {
    same("the source", batch, "the target", other)
}

fn main() {}
