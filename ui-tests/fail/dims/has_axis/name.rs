//! An axis name is a dimension of the shape.
//! Covers `Name` of `dims::HasAxis`.
//! Right with `SrcLen` for `TgtLen` in line 8.
use typed_transformer::{dims::HasAxis, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; Batch; }

fn has<Dims: HasAxis<TgtLen, WhichAxis>, WhichAxis>() {}

const _: fn() = has::<(Batch, SrcLen), _>;

fn main() {}
