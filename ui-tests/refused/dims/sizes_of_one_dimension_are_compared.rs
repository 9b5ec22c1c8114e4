//! Sizes of one dimension are compared.
//! Proves `Any` of `dims::same`.
use typed_transformer::{dims::same, prelude::*};

dims! { Batch; OtherBatch; }

fn check(batch: Batch, other: OtherBatch) -> Result<(), DimError> {
    same("the source", batch, "the target", other)
}

fn main() {}
