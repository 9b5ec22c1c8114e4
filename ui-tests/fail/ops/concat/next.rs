//! Concatenated tensors agree in all other axes.
//! Covers `Next` of `ops::concat`.
//! Right with `EmbedDim` for `HiddenDim` in line 12.
use typed_transformer::prelude::*;

dims! { PastLen = 3; PresentLen = 2; TotalLen: Sum<PastLen, PresentLen>; EmbedDim = 8; HiddenDim = 32; Batch; }

type Seen = Tensor<(Batch, TotalLen, EmbedDim), f32, Cpu>;

fn remember(
    past: Tensor<(Batch, PastLen, EmbedDim), f32, Cpu>,
    present: Tensor<(Batch, PresentLen, HiddenDim), f32, Cpu>,
) {
    let _seen: Seen = concat(past, present, along::<PastLen, PresentLen>());
}

fn main() {}
