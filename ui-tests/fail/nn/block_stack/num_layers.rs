//! A block stack has a fixed number of layers.
//! Covers `NumLayers` of `nn::BlockStack`.
//! Right with `NumLayers` for `OtherLayers` in line 10.
use typed_transformer::{nn::BlockStack, prelude::*};

dims! { EmbedDim = 8; NumLayers = 1; OtherLayers = 6; }

fn replace<Small: SingleStack<EmbedDim = EmbedDim, NumLayers = NumLayers>, Large: Arch>(
    model: &mut DecoderOnly<Small, f32, Cpu>,
    stack: BlockStack<EmbedDim, OtherLayers, CausalMask, Small, f32, Cpu>,
) {
    model.decoder = stack;
}

fn main() {}
