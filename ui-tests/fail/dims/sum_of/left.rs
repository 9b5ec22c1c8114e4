//! The first part of a sum has the size that the whole leaves for it.
//! Covers `Left` of `dims::SumOf`.
//! Right with `PastLen` for `TgtLen` in line 9.
//! Mutants cover `Right` by `PresentLen`, `Self` by `TotalLen` of `dims::SumOf`.
use typed_transformer::prelude::*;

dims! { TgtLen = 7; PastLen = 3; PresentLen = 2; TotalLen: Sum<PastLen, PresentLen>; }

fn adds_up<Whole: SumOf<TgtLen, PresentLen>>() {}

const _: fn() = adds_up::<TotalLen>;

fn main() {}
