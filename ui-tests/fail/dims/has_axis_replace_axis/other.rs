//! Replacing an axis gives the shape the new axis's type.
//! Covers `Other` of `dims::HasAxis::replace_axis`.
//! Right with `TotalLen` for `SeenLen` in line 9.
use typed_transformer::{dims::HasAxis, prelude::*};

dims! { PresentLen = 2; TotalLen = 5; SeenLen = 9; Batch; }

fn lengthen(dims: (Batch, PresentLen)) {
    let _dims: (Batch, TotalLen) = HasAxis::<PresentLen, _>::replace_axis(dims, SeenLen);
}

fn main() {}
