//! A stack is as wide as its model.
//! Proves `EmbedDim` of `nn::Stack`.
use typed_transformer::{nn::Stack, prelude::*};

dims! { EmbedDim = 8; KeyDim = 18; NumLayers = 1; }

fn replace<Small: OneStack<EmbedDim = EmbedDim, NumLayers = NumLayers>, Large: Arch>(
    model: &mut DecoderOnly<Small, f32, Cpu>,
    stack: Stack<KeyDim, NumLayers, CausalMask, Small, f32, Cpu>,
) {
    model.decoder = stack;
}

fn main() {}
