//! A stack sees what its model sees.
//! Proves `Mask` of `nn::BlockStack`.
use typed_transformer::{nn::BlockStack, prelude::*};

dims! { EmbedDim = 8; NumLayers = 1; }

fn replace<Small: SingleStack<EmbedDim = EmbedDim, NumLayers = NumLayers>, Large: Arch>(
    model: &mut DecoderOnly<Small, f32, Cpu>,
    stack: BlockStack<EmbedDim, NumLayers, CausalMask, Small, f32, Cpu>,
) {
    model.decoder = stack;
}

fn main() {}
