//! The second part of a split is the whole without the first.
//! Covers `Other` of `ops::split`.
//! Right with `PresentLen` for `SeenLen` in line 9.
use typed_transformer::prelude::*;

dims! { PastLen = 3; PresentLen = 2; TotalLen: Sum<PastLen, PresentLen>; SeenLen = 9; EmbedDim = 8; Batch; }

fn recall(seen: Tensor<(Batch, TotalLen, EmbedDim), f32, Cpu>) {
    let _parts = split(seen, PastLen, SeenLen, axis::<TotalLen>());
}

fn main() {}
