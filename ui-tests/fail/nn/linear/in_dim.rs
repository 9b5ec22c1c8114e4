//! A linear layer reads vectors of its input width.
//! Covers `InDim` of `nn::Linear`.
//! Right with `EmbedDim` for `SrcDim` in line 9.
use typed_transformer::{nn::Linear, prelude::*};

dims! { SrcLen = 5; EmbedDim = 8; HiddenDim = 32; SrcDim = 24; Batch; }

fn map(
    linear: &Linear<SrcDim, HiddenDim, f32, Cpu>,
    input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
) {
    let _mapped: Tensor<(Batch, SrcLen, HiddenDim), f32, Cpu> = linear.forward(input);
}

fn main() {}
