//! A whole is as long as its two parts together.
//! Covers `Self` of `dims::SumOf`.
//! Right with `TotalLen` for `SeenLen` in line 10.
use typed_transformer::prelude::*;

dims! { PastLen = 3; PresentLen = 2; TotalLen: Sum<PastLen, PresentLen>; SeenLen = 9; }

fn adds_up<Whole: SumOf<PastLen, PresentLen>>() {}

const _: fn() = adds_up::<SeenLen>;

fn main() {}
