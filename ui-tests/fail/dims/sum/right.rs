//! A sum keeps its second part.
//! Covers `Right` of `dims::Sum`.
//! Right with `PresentLen` for `TgtLen` in line 9.
use typed_transformer::prelude::*;

dims! { TgtLen = 7; PastLen = 3; PresentLen = 2; }

fn seen(past: PastLen, present: PresentLen) {
    let _seen: Sum<PastLen, TgtLen> = Sum::of(past, present);
}

fn main() {}
