//! A whole ends with its second part.
//! Proves `Other` of `dims::SumOf`.
use typed_transformer::prelude::*;

dims! { OtherLen = 6; PastLen = 3; PresentLen = 2; TotalLen = 5; }

fn adds_up<Whole: SumOf<PastLen, PresentLen>>() {}

const _: fn() = adds_up::<TotalLen>;

fn main() {}
