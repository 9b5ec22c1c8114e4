//! An axis is named by a dimension of its shape.
//! Proves `Name` of `dims::HasAxis`.
use typed_transformer::{dims::HasAxis, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; Batch; }

fn has<Dims: HasAxis<TgtLen, BiasRule>, BiasRule>() {}

const _: fn() = has::<(Batch, SrcLen), _>;

fn main() {}
