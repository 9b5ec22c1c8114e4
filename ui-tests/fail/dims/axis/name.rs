//! `axis` returns the axis that its type parameter names.
//! Covers `Name` of `dims::axis`.
//! Right with `SrcLen` for `TgtLen` in line 9.
use typed_transformer::{dims::AxisOf, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; }

fn source() {
    let _axis: AxisOf<SrcLen> = axis::<TgtLen>();
}

fn main() {}
