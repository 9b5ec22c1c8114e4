//! A concatenation axis starts with the first part's name.
//! Covers `Left` of `dims::ConcatAxis`.
//! Right with `PastLen` for `SrcLen` in line 10.
//! Mutants cover `Right` by `PresentLen` of `dims::ConcatAxis`.
use typed_transformer::{dims::ConcatAxis, prelude::*};

dims! { SrcLen = 5; PastLen = 3; PresentLen = 2; }

fn parts() {
    let _axis: ConcatAxis<SrcLen, PresentLen> = along::<PastLen, PresentLen>();
}

fn main() {}
