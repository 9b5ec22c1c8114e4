//! The narrowed axis is an axis of the tensor.
//! Covers `Len` of `ops::narrow`.
//! Right with `SrcLen` for `TgtLen` in line 11.
use typed_transformer::prelude::*;

dims! { Short = 4; SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; }

type Part = Tensor<(Batch, Short, EmbedDim), f32, Cpu>;

fn cut(input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>) {
    let _part: Part = narrow(input, axis::<TgtLen>(), 0, Short);
}

fn main() {}
