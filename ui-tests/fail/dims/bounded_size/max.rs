//! A bounded size belongs to the maximum that it was checked against.
//! Covers `Max` of `dims::BoundedSize`.
//! Right with `MaxSrcLen` for `MaxTgtLen` in line 8.
use typed_transformer::{dims::BoundedSize, prelude::*};

dims! { MaxSrcLen = 16; MaxTgtLen = 12; }

fn bounded(size: BoundedSize<MaxTgtLen>) {
    let _size: BoundedSize<MaxSrcLen> = size;
}

fn main() {}
