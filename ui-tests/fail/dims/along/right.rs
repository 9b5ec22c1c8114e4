//! `along` returns the second axis that its type parameters name.
//! Covers `Right` of `dims::along`.
//! Right with `PresentLen` for `SrcLen` in line 9.
use typed_transformer::{dims::ConcatAxis, prelude::*};

dims! { SrcLen = 5; PastLen = 3; PresentLen = 2; }

fn parts() {
    let _axis: ConcatAxis<PastLen, PresentLen> = along::<PastLen, SrcLen>();
}

fn main() {}
