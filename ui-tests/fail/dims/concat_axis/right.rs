//! A concatenation axis ends with the second part's name.
//! Covers `Right` of `dims::ConcatAxis`.
//! Right with `PresentLen` for `SrcLen` in line 9.
use typed_transformer::{dims::ConcatAxis, prelude::*};

dims! { SrcLen = 5; PastLen = 3; PresentLen = 2; }

fn parts() {
    let _axis: ConcatAxis<PastLen, SrcLen> = along::<PastLen, PresentLen>();
}

fn main() {}
