//! A decoder layer belongs to one architecture.
//! Proves `A` of `nn::DecoderLayer`.
use typed_transformer::prelude::*;

dims! { SrcDim = 24; TgtDim = 20; NumLayers = 1; }

fn replace<Small: Arch, Large: Arch>(
    decoder: &mut Decoder<TgtDim, SrcDim, NumLayers, Small, f32, Cpu>,
    layer: DecoderLayer<TgtDim, SrcDim, Small, f32, Cpu>,
) {
    decoder.layers[0] = layer;
}

fn main() {}
