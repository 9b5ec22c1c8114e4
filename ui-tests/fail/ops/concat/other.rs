//! The second part of a concatenation is named by its own axis.
//! Covers `Other` of `ops::concat`.
//! Right with `PresentLen` for `TgtLen` in line 12.
use typed_transformer::prelude::*;

dims! { TgtLen = 7; PastLen = 3; PresentLen = 2; TotalLen: Sum<PastLen, PresentLen>; EmbedDim = 8; Batch; }

type Seen = Tensor<(Batch, TotalLen, EmbedDim), f32, Cpu>;

fn remember(
    past: Tensor<(Batch, PastLen, EmbedDim), f32, Cpu>,
    present: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>,
) {
    let _seen: Seen = concat(past, present, along::<PastLen, PresentLen>());
}

fn main() {}
