//! The layers of a decoder-only model see nothing of what they are to write.
use typed_transformer::{nn::BlockStack, prelude::*};

dims! { EmbedDim = 8; NumLayers = 2; }

trait Small: SingleStack<EmbedDim = EmbedDim, NumLayers = NumLayers> {}

fn replace<M: Small>(
    model: &mut DecoderOnly<M, f32, Cpu>,
    layers: BlockStack<EmbedDim, NumLayers, CausalMask, M, f32, Cpu>,
) {
    model.decoder = layers;
}

fn main() {}
