//! A block stack has the embedding width of its model.
//! Covers `EmbedDim` of `nn::BlockStack`.
//! Right with `EmbedDim` for `KeyDim` in line 10.
use typed_transformer::{nn::BlockStack, prelude::*};

dims! { EmbedDim = 8; KeyDim = 18; NumLayers = 1; }

fn replace<Small: SingleStack<EmbedDim = EmbedDim, NumLayers = NumLayers>, Large: Arch>(
    model: &mut DecoderOnly<Small, f32, Cpu>,
    stack: BlockStack<KeyDim, NumLayers, CausalMask, Small, f32, Cpu>,
) {
    model.decoder = stack;
}

fn main() {}
