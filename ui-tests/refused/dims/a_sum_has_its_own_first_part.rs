//! A sum has its own first part.
//! Proves `One` of `dims::Sum`.
use typed_transformer::prelude::*;

dims! { TgtLen = 7; PastLen = 3; PresentLen = 2; }

fn seen(past: PastLen, present: PresentLen) {
    let _seen: Sum<TgtLen, PresentLen> = Sum::of(past, present);
}

fn main() {}
