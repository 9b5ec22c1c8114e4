//! A block stack belongs to one architecture.
//! Covers `A` of `nn::BlockStack`.
//! Right with `Small` for `Large` in line 10.
use typed_transformer::{nn::BlockStack, prelude::*};

dims! { EmbedDim = 8; NumLayers = 1; }

fn replace<Small: SingleStack<EmbedDim = EmbedDim, NumLayers = NumLayers>, Large: Arch>(
    model: &mut DecoderOnly<Small, f32, Cpu>,
    stack: BlockStack<EmbedDim, NumLayers, CausalMask, Large, f32, Cpu>,
) {
    model.decoder = stack;
}

fn main() {}
