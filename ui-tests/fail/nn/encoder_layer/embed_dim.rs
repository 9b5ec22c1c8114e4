//! An encoder layer has the width of its encoder.
//! Covers `EmbedDim` of `nn::EncoderLayer`.
//! Right with `EmbedDim` for `HiddenDim` in line 10.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; HiddenDim = 32; NumLayers = 1; }

fn replace<Small: Arch, Large: Arch>(
    encoder: &mut Encoder<EmbedDim, NumLayers, Small, f32, Cpu>,
    layer: EncoderLayer<HiddenDim, Small, f32, Cpu>,
) {
    encoder.layers[0] = layer;
}

fn main() {}
