//! A shape has the axis that is named.
//! Proves `Self` of `dims::HasAxis`.
use typed_transformer::{dims::HasAxis, prelude::*};

dims! { SrcLen = 5; OtherLen = 6; Batch; }

fn has<Dims: HasAxis<SrcLen, BiasRule>, BiasRule>() {}

const _: fn() = has::<(Batch, SrcLen), _>;

fn main() {}
