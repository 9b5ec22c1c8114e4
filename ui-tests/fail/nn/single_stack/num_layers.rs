//! The number of layers of a single-stack model comes from its configuration.
//! Covers `NumLayers` of `nn::SingleStack`.
//! Right with `NumLayers` for `OtherLayers` in line 8.
use typed_transformer::{nn::BlockStack, prelude::*};

dims! { EmbedDim = 8; NumLayers = 1; OtherLayers = 6; }

trait Writer: SingleStack<EmbedDim = EmbedDim, NumLayers = OtherLayers> {}

fn replace<M: Writer>(
    model: &mut DecoderOnly<M, f32, Cpu>,
    stack: BlockStack<EmbedDim, NumLayers, CausalMask, M, f32, Cpu>,
) {
    model.decoder = stack;
}

fn main() {}
