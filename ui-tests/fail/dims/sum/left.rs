//! A sum keeps its first part.
//! Covers `Left` of `dims::Sum`.
//! Right with `PastLen` for `TgtLen` in line 10.
//! Mutants cover `Right` by `PresentLen` of `dims::Sum`.
use typed_transformer::prelude::*;

dims! { TgtLen = 7; PastLen = 3; PresentLen = 2; }

fn seen(past: PastLen, present: PresentLen) {
    let _seen: Sum<TgtLen, PresentLen> = Sum::of(past, present);
}

fn main() {}
