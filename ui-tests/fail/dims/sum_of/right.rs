//! The second part of a sum has the size that the whole leaves for it.
//! Covers `Right` of `dims::SumOf`.
//! Right with `PresentLen` for `OtherLen` in line 8.
use typed_transformer::prelude::*;

dims! { OtherLen = 6; PastLen = 3; PresentLen = 2; TotalLen: Sum<PastLen, PresentLen>; }

fn adds_up<Whole: SumOf<PastLen, OtherLen>>() {}

const _: fn() = adds_up::<TotalLen>;

fn main() {}
