//! An `AxisOf` names the axis that it was made for.
//! Covers `Name` of `dims::AxisOf`.
//! Right with `SrcLen` for `TgtLen` in line 9.
use typed_transformer::{dims::AxisOf, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; }

fn source() {
    let _axis: AxisOf<TgtLen> = axis::<SrcLen>();
}

fn main() {}
