//! A maximum is no shorter than what it bounds.
//! Proves `Max` of `dims::AtMost`.
use typed_transformer::prelude::*;

dims! { MaxLen = 16; Short = 4; SrcLen = 5; }

fn fits<Len: AtMost<MaxLen>>() {}

const _: fn() = fits::<SrcLen>;

fn main() {}
