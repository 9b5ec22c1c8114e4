//! The second part of a split fills what the first leaves.
//! Proves `Other` of `ops::split`.
use typed_transformer::prelude::*;

dims! { PastLen = 3; PresentLen = 2; TotalLen = 5; SeenLen = 9; EmbedDim = 8; Batch; }

fn recall(seen: Tensor<(Batch, TotalLen, EmbedDim), f32, Cpu>) {
    let _parts = split(seen, axis::<TotalLen>(), PastLen, PresentLen);
}

fn main() {}
