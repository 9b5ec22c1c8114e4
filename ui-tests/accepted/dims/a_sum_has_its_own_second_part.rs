//! A sum has its own second part.
//! Proves `Other` of `dims::Sum`.
use typed_transformer::prelude::*;

dims! { TgtLen = 7; PastLen = 3; PresentLen = 2; }

fn seen(past: PastLen, present: PresentLen) {
    let _seen: Sum<PastLen, PresentLen> = Sum::of(past, present);
}

fn main() {}
