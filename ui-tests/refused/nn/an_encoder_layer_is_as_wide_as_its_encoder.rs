//! An encoder layer is as wide as its encoder.
//! Proves `EmbedDim` of `nn::EncoderLayer`.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; HiddenDim = 32; NumLayers = 1; }

fn replace<Small: Arch, Large: Arch>(
    encoder: &mut Encoder<EmbedDim, NumLayers, Small, f32, Cpu>,
    layer: EncoderLayer<HiddenDim, Small, f32, Cpu>,
) {
    encoder.layers[0] = layer;
}

fn main() {}
