//! A window is not longer than its axis.
//! Covers `Self` of `dims::WindowOf`.
//! Right with `Width` for `TooWide` in line 11.
use typed_transformer::{dims::WindowOf, prelude::*};

dims! { SrcLen = 5; Width = 3; TooWide = 6; }

fn is_window<Len: Dim, Window: WindowOf<Len>>() {}

fn check() {
    is_window::<SrcLen, TooWide>();
}

fn main() {}
