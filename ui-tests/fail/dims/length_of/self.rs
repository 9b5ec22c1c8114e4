//! A run-time length belongs to the maximum that it is declared with, not to another one of the same size.
//! Covers `Self` of `dims::LengthOf`.
//! Right with `SrcLen` for `TgtLen` in line 11.
//! Mutants cover `MaxLen` by `MaxSrcLen` of `dims::LengthOf`.
use typed_transformer::prelude::*;

dims! { MaxSrcLen = 16; MaxTgtLen = 16; SrcLen <= MaxSrcLen; TgtLen <= MaxTgtLen; }

fn has_positions<Len: LengthOf<MaxSrcLen>>() {}

const _: fn() = has_positions::<TgtLen>;

fn main() {}
