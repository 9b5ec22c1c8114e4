//! A decoder layer belongs to one architecture.
//! Covers `A` of `nn::DecoderLayer`.
//! Right with `Small` for `Large` in line 10.
use typed_transformer::prelude::*;

dims! { SrcDim = 24; TgtDim = 20; NumLayers = 1; }

fn replace<Small: Arch, Large: Arch>(
    decoder: &mut Decoder<TgtDim, SrcDim, NumLayers, Small, f32, Cpu>,
    layer: DecoderLayer<TgtDim, SrcDim, Large, f32, Cpu>,
) {
    decoder.layers[0] = layer;
}

fn main() {}
