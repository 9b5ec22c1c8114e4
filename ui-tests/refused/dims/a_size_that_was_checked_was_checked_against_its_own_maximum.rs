//! A size that was checked was checked against its own maximum.
//! Proves `Max` of `dims::BoundedSize`.
use typed_transformer::{dims::BoundedSize, prelude::*};

dims! { MaxSrcLen = 16; MaxTgtLen = 12; }

fn bounded(size: BoundedSize<MaxTgtLen>) {
    let _size: BoundedSize<MaxSrcLen> = size;
}

fn main() {}
