//! A norm reads vectors of its width.
//! Covers `EmbedDim` of `nn::LayerNorm`.
//! Right with `EmbedDim` for `KeyDim` in line 8.
use typed_transformer::{nn::LayerNorm, prelude::*};

dims! { EmbedDim = 8; KeyDim = 8; SrcLen = 5; Batch; }

fn normalized(norm: &LayerNorm<KeyDim, f32, Cpu>, x: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>) {
    let _normalized = norm.forward(x, 1e-5);
}

fn main() {}
