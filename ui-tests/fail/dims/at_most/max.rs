//! A maximum is at least as large as the dimension that it bounds.
//! Covers `Max` of `dims::AtMost`.
//! Right with `MaxLen` for `Short` in line 8.
use typed_transformer::prelude::*;

dims! { MaxLen = 16; Short = 4; SrcLen = 5; }

fn fits<Len: AtMost<Short>>() {}

const _: fn() = fits::<SrcLen>;

fn main() {}
