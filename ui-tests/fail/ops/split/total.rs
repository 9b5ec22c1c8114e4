//! The split axis is an axis of the tensor.
//! Covers `Total` of `ops::split`.
//! Right with `TotalLen` for `SrcLen` in line 12.
use typed_transformer::prelude::*;

dims! { SrcLen: Sum<PastLen, PresentLen>; PastLen = 3; PresentLen = 2; TotalLen: Sum<PastLen, PresentLen>; EmbedDim = 8; Batch; }

type Past = Tensor<(Batch, PastLen, EmbedDim), f32, Cpu>;
type Present = Tensor<(Batch, PresentLen, EmbedDim), f32, Cpu>;

fn recall(seen: Tensor<(Batch, TotalLen, EmbedDim), f32, Cpu>) {
    let _parts: (Past, Present) = split(seen, PastLen, PresentLen, axis::<SrcLen>());
}

fn main() {}
