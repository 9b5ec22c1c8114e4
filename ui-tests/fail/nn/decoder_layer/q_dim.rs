//! A decoder layer has the width of its decoder.
//! Covers `QDim` of `nn::DecoderLayer`.
//! Right with `TgtDim` for `KeyDim` in line 10.
use typed_transformer::prelude::*;

dims! { SrcDim = 24; TgtDim = 20; KeyDim = 18; NumLayers = 1; }

fn replace<Small: Arch, Large: Arch>(
    decoder: &mut Decoder<TgtDim, SrcDim, NumLayers, Small, f32, Cpu>,
    layer: DecoderLayer<KeyDim, SrcDim, Small, f32, Cpu>,
) {
    decoder.layers[0] = layer;
}

fn main() {}
