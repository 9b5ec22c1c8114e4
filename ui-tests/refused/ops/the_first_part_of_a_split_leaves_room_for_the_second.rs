//! The first part of a split leaves room for the second.
//! Proves `One` of `ops::split`.
use typed_transformer::prelude::*;

dims! { TgtLen = 7; PastLen = 3; PresentLen = 2; TotalLen = 5; EmbedDim = 8; Batch; }

fn recall(seen: Tensor<(Batch, TotalLen, EmbedDim), f32, Cpu>) {
    let _parts = split(seen, axis::<TotalLen>(), TgtLen, PresentLen);
}

fn main() {}
