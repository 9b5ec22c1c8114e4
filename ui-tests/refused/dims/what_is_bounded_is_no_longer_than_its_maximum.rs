//! What is bounded is no longer than its maximum.
//! Proves `Self` of `dims::AtMost`.
use typed_transformer::prelude::*;

dims! { MaxLen = 16; Long = 17; SrcLen = 5; }

fn fits<Len: AtMost<MaxLen>>() {}

const _: fn() = fits::<Long>;

fn main() {}
