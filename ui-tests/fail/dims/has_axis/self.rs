//! A shape has the axis that is named.
//! Covers `Self` of `dims::HasAxis`.
//! Right with `SrcLen` for `OtherLen` in line 10.
use typed_transformer::{dims::HasAxis, prelude::*};

dims! { SrcLen = 5; OtherLen = 6; Batch; }

fn has<Dims: HasAxis<SrcLen, WhichAxis>, WhichAxis>() {}

const _: fn() = has::<(Batch, OtherLen), _>;

fn main() {}
