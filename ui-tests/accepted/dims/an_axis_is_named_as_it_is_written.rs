//! An axis is named as it is written.
//! Proves `Name` of `dims::axis`.
use typed_transformer::{dims::AxisName, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; }

fn source() {
    let _axis: AxisName<SrcLen> = axis::<SrcLen>();
}

fn main() {}
