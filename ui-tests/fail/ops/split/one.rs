//! The first part of a split is the whole without the second.
//! Covers `One` of `ops::split`.
//! Right with `PastLen` for `TgtLen` in line 9.
use typed_transformer::prelude::*;

dims! { TgtLen = 7; PastLen = 3; PresentLen = 2; TotalLen: Sum<PastLen, PresentLen>; EmbedDim = 8; Batch; }

fn recall(seen: Tensor<(Batch, TotalLen, EmbedDim), f32, Cpu>) {
    let _parts = split(seen, TgtLen, PresentLen, axis::<TotalLen>());
}

fn main() {}
