//! An axis of the result is an axis of an operand.
//! Right with `SrcLen` for `TgtLen` in line 8.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; HiddenDim = 32; Batch; }

fn outer(x: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>, y: &Tensor<(Batch, SrcLen, HiddenDim), f32, Cpu>) {
    let _sum = einsum!(x: (Batch, SrcLen, EmbedDim), y: (Batch, SrcLen, HiddenDim) -> (TgtLen, EmbedDim, HiddenDim)).unwrap();
}

fn main() {}
