//! The name of an axis is of that axis.
//! Proves `Name` of `dims::AxisName`.
use typed_transformer::{dims::AxisName, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; }

fn source() {
    let _axis: AxisName<SrcLen> = axis::<SrcLen>();
}

fn main() {}
