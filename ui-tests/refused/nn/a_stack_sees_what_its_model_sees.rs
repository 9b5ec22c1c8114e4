//! A stack sees what its model sees.
//! Proves `Mask` of `nn::Stack`.
use typed_transformer::{nn::Stack, prelude::*};

dims! { EmbedDim = 8; NumLayers = 1; }

fn replace<Small: OneStack<EmbedDim = EmbedDim, NumLayers = NumLayers>, Large: Arch>(
    model: &mut DecoderOnly<Small, f32, Cpu>,
    stack: Stack<EmbedDim, NumLayers, NoMask, Small, f32, Cpu>,
) {
    model.decoder = stack;
}

fn main() {}
