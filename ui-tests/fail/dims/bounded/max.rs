//! The maximum of a length is known at compile time.
//! Covers `Max` of `dims::Bounded`.
//! Right with `MaxLen` for the second `TgtLen` in line 6.
use typed_transformer::prelude::*;

dims! { pub MaxLen = 16; pub TgtLen; pub SrcLen <= TgtLen; }

fn main() {}
