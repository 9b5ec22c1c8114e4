//! The first part of a concatenation is named by its own axis.
//! Covers `One` of `ops::concat`.
//! Right with `PastLen` for `TgtLen` in line 14.
use typed_transformer::prelude::*;

dims! { TgtLen = 7; PastLen = 3; PresentLen = 2; TotalLen: Sum<PastLen, PresentLen>; EmbedDim = 8; Batch; }

type Seen = Tensor<(Batch, TotalLen, EmbedDim), f32, Cpu>;

fn remember(
    past: Tensor<(Batch, PastLen, EmbedDim), f32, Cpu>,
    present: Tensor<(Batch, PresentLen, EmbedDim), f32, Cpu>,
) {
    let _seen: Seen = concat(past, present, along::<TgtLen, PresentLen>());
}

fn main() {}
