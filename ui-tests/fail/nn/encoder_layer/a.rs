//! An encoder layer belongs to one architecture.
//! Covers `A` of `nn::EncoderLayer`.
//! Right with `Small` for `Large` in line 10.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; NumLayers = 1; }

fn replace<Small: Arch, Large: Arch>(
    encoder: &mut Encoder<EmbedDim, NumLayers, Small, f32, Cpu>,
    layer: EncoderLayer<EmbedDim, Large, f32, Cpu>,
) {
    encoder.layers[0] = layer;
}

fn main() {}
