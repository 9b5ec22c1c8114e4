//! An axis of ranks is declared with a size or without one.
//! Right with `=` for `:` in line 5.
use typed_transformer::ranks;

ranks! { Tp: 2; }

fn main() {}
