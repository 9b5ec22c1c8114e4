//! A block stack has the mask of its model.
//! Covers `Mask` of `nn::BlockStack`.
//! Right with `CausalMask` for `NoMask` in line 10.
use typed_transformer::{nn::BlockStack, prelude::*};

dims! { EmbedDim = 8; NumLayers = 1; }

fn replace<Small: SingleStack<EmbedDim = EmbedDim, NumLayers = NumLayers>, Large: Arch>(
    model: &mut DecoderOnly<Small, f32, Cpu>,
    stack: BlockStack<EmbedDim, NumLayers, NoMask, Small, f32, Cpu>,
) {
    model.decoder = stack;
}

fn main() {}
