//! The name of an axis is of that axis.
//! Proves `Name` of `dims::AxisOf`.
use typed_transformer::{dims::AxisOf, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; }

fn source() {
    let _axis: AxisOf<SrcLen> = axis::<SrcLen>();
}

fn main() {}
