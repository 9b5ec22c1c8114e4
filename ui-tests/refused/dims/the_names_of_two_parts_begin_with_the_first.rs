//! The names of two parts begin with the first.
//! Proves `One` of `dims::ConcatAxis`.
use typed_transformer::{dims::ConcatAxis, prelude::*};

dims! { SrcLen = 5; PastLen = 3; PresentLen = 2; }

fn parts() {
    let _axis: ConcatAxis<SrcLen, PresentLen> = along::<PastLen, PresentLen>();
}

fn main() {}
