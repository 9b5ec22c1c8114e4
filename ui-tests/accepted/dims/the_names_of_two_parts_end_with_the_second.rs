//! The names of two parts end with the second.
//! Proves `Other` of `dims::ConcatAxis`.
use typed_transformer::{dims::ConcatAxis, prelude::*};

dims! { SrcLen = 5; PastLen = 3; PresentLen = 2; }

fn parts() {
    let _axis: ConcatAxis<PastLen, PresentLen> = along::<PastLen, PresentLen>();
}

fn main() {}
