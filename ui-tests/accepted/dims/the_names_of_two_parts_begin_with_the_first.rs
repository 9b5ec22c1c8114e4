//! The names of two parts begin with the first.
//! Proves `One` of `dims::Along`.
use typed_transformer::{dims::Along, prelude::*};

dims! { SrcLen = 5; PastLen = 3; PresentLen = 2; }

fn parts() {
    let _axis: Along<PastLen, PresentLen> = along::<PastLen, PresentLen>();
}

fn main() {}
