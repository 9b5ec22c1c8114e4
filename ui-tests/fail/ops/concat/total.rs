//! The total length is the sum of both parts.
//! Covers `Total` of `ops::concat`.
//! Right with `TotalLen` for `TgtLen` in line 8.
use typed_transformer::prelude::*;

dims! { TgtLen = 7; PastLen = 3; PresentLen = 2; TotalLen: Sum<PastLen, PresentLen>; EmbedDim = 8; Batch; }

type Seen = Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>;

fn remember(
    past: Tensor<(Batch, PastLen, EmbedDim), f32, Cpu>,
    present: Tensor<(Batch, PresentLen, EmbedDim), f32, Cpu>,
) {
    let _seen: Seen = concat(past, present, along::<PastLen, PresentLen>());
}

fn main() {}
