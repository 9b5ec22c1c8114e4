//! A tensor has an axis once.
//! Right with `SrcLen` for the third `EmbedDim` in line 8.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; HiddenDim = 32; Batch; }

fn outer(x: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>, y: &Tensor<(Batch, SrcLen, HiddenDim), f32, Cpu>) {
    let _sum = einsum!(x: (Batch, SrcLen, EmbedDim), y: (Batch, SrcLen, HiddenDim) -> (HiddenDim, EmbedDim, EmbedDim)).unwrap();
}

fn main() {}
