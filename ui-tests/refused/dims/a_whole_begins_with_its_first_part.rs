//! A whole begins with its first part.
//! Proves `One` of `dims::SumOf`.
use typed_transformer::prelude::*;

dims! { TgtLen = 7; PastLen = 3; PresentLen = 2; TotalLen = 5; }

fn adds_up<Whole: SumOf<TgtLen, PresentLen>>() {}

const _: fn() = adds_up::<TotalLen>;

fn main() {}
