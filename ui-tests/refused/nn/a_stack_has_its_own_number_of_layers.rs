//! A stack has its own number of layers.
//! Proves `NumLayers` of `nn::Stack`.
use typed_transformer::{nn::Stack, prelude::*};

dims! { EmbedDim = 8; NumLayers = 1; OtherLayers = 6; }

fn replace<Small: OneStack<EmbedDim = EmbedDim, NumLayers = NumLayers>, Large: Arch>(
    model: &mut DecoderOnly<Small, f32, Cpu>,
    stack: Stack<EmbedDim, OtherLayers, CausalMask, Small, f32, Cpu>,
) {
    model.decoder = stack;
}

fn main() {}
