//! A stack is as wide as its model.
//! Proves `EmbedDim` of `nn::BlockStack`.
use typed_transformer::{nn::BlockStack, prelude::*};

dims! { EmbedDim = 8; KeyDim = 18; NumLayers = 1; }

fn replace<Small: SingleStack<EmbedDim = EmbedDim, NumLayers = NumLayers>, Large: Arch>(
    model: &mut DecoderOnly<Small, f32, Cpu>,
    stack: BlockStack<EmbedDim, NumLayers, CausalMask, Small, f32, Cpu>,
) {
    model.decoder = stack;
}

fn main() {}
