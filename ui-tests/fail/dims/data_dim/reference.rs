//! The shape of a tensor is a reference, and its dimensions are values.
//! Right with `copied` for `shape` in line 9.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; SeqLen = 3; Batch; }

fn padding(x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>) {
    let (shape, copied) = (x.shape(), *x.shape());
    let (batch, _, _) = shape;
    let _padding = PaddingMask::without_padding((batch, SeqLen));
}

fn main() {}
