//! An axis is named as it is written.
//! Proves `Name` of `dims::axis`.
use typed_transformer::{dims::AxisOf, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; }

fn source() {
    let _axis: AxisOf<SrcLen> = axis::<SrcLen>();
}

fn main() {}
