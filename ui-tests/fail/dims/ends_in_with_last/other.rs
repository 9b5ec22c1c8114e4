//! Replacing the last axis gives the shape the new axis's type.
//! Covers `Other` of `dims::EndsIn::with_last`.
//! Right with `EmbedDim` for `HiddenDim` in line 9.
use typed_transformer::{dims::EndsIn, prelude::*};

dims! { SrcLen = 5; EmbedDim = 8; HiddenDim = 32; Batch; }

fn widen(dims: (Batch, SrcLen)) {
    let _dims: (Batch, EmbedDim) = EndsIn::<SrcLen>::with_last(dims, HiddenDim);
}

fn main() {}
