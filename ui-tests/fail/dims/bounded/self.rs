//! A run-time length has a maximum if it is declared with one.
//! Covers `Self` of `dims::Bounded`.
//! Right with `SrcLen` for `TgtLen` in line 11.
//! Mutants cover `Max` by `MaxLen` of `dims::Bounded`.
use typed_transformer::{dims::Bounded, prelude::*};

dims! { MaxLen = 16; TgtLen; SrcLen <= MaxLen; }

fn buffer<Len: Bounded>() {}

const _: fn() = buffer::<TgtLen>;

fn main() {}
