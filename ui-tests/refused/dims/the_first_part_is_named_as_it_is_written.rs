//! The first part is named as it is written.
//! Proves `One` of `dims::along`.
use typed_transformer::{dims::ConcatAxis, prelude::*};

dims! { SrcLen = 5; PastLen = 3; PresentLen = 2; }

fn parts() {
    let _axis: ConcatAxis<PastLen, PresentLen> = along::<SrcLen, PresentLen>();
}

fn main() {}
