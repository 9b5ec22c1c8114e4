//! An encoder layer belongs to one architecture.
//! Proves `A` of `nn::EncoderLayer`.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; NumLayers = 1; }

fn replace<Small: Arch, Large: Arch>(
    encoder: &mut Encoder<EmbedDim, NumLayers, Small, f32, Cpu>,
    layer: EncoderLayer<EmbedDim, Small, f32, Cpu>,
) {
    encoder.layers[0] = layer;
}

fn main() {}
