//! The bound of a dimension is a dimension.
//! Right with `MaxLen` for `15` in line 5.
use typed_transformer::prelude::*;

dims! { MaxLen = 16; SrcLen <= 15; }

fn main() {}
