//! A dimension that takes the place of another is of its type.
//! Proves `Other` of `dims::HasAxis::replace_axis`.
use typed_transformer::{dims::HasAxis, prelude::*};

dims! { PresentLen = 2; TotalLen = 5; SeenLen = 9; Batch; }

fn lengthen(dims: (Batch, PresentLen)) {
    let _dims: (Batch, TotalLen) = HasAxis::<PresentLen, _>::replace_axis(dims, SeenLen);
}

fn main() {}
