//! A stack has its own number of layers.
//! Proves `NumLayers` of `nn::BlockStack`.
use typed_transformer::{nn::BlockStack, prelude::*};

dims! { EmbedDim = 8; NumLayers = 1; OtherLayers = 6; }

fn replace<Small: SingleStack<EmbedDim = EmbedDim, NumLayers = NumLayers>, Large: Arch>(
    model: &mut DecoderOnly<Small, f32, Cpu>,
    stack: BlockStack<EmbedDim, NumLayers, CausalMask, Small, f32, Cpu>,
) {
    model.decoder = stack;
}

fn main() {}
