//! A window is not longer than its axis.
//! Covers `Len` of `dims::WindowOf`.
//! Right with `SrcLen` for `TgtLen` in line 11.
use typed_transformer::{dims::WindowOf, prelude::*};

dims! { SrcLen = 5; TgtLen = 2; Width = 3; }

fn is_window<Len: Dim, Window: WindowOf<Len>>() {}

fn check() {
    is_window::<TgtLen, Width>();
}

fn main() {}
