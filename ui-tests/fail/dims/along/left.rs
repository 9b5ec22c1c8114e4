//! `along` returns the first axis that its type parameters name.
//! Covers `Left` of `dims::along`.
//! Right with `PastLen` for `SrcLen` in line 10.
//! Mutants cover `Right` by `PresentLen` of `dims::along`.
use typed_transformer::{dims::ConcatAxis, prelude::*};

dims! { SrcLen = 5; PastLen = 3; PresentLen = 2; }

fn parts() {
    let _axis: ConcatAxis<PastLen, PresentLen> = along::<SrcLen, PresentLen>();
}

fn main() {}
