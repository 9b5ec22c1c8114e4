//! A block stack keeps the sequence length.
//! Covers `S` of `nn::BlockStack::forward`.
//! Right with `SrcLen` for `TgtLen` in line 15.
//! Mutants cover `B` by `Batch` of `nn::BlockStack::forward`.
use typed_transformer::{nn::BlockStack, prelude::*};

dims! { SrcLen = 4; TgtLen = 4; EmbedDim = 8; NumLayers = 1; Batch; }

fn encode<A: Arch>(
    encoder: &BlockStack<EmbedDim, NumLayers, NoMask, A, f32, Cpu>,
    source: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    padding: &PaddingMask<Batch, SrcLen>,
) {
    let encoded = encoder.forward(source, padding).unwrap();
    let _encoded: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu> = encoded;
}

fn main() {}
