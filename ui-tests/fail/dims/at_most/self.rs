//! A bounded dimension is at most its maximum.
//! Covers `Self` of `dims::AtMost`.
//! Right with `SrcLen` for `Long` in line 10.
use typed_transformer::prelude::*;

dims! { MaxLen = 16; Long = 17; SrcLen = 5; }

fn fits<Len: AtMost<MaxLen>>() {}

const _: fn() = fits::<Long>;

fn main() {}
