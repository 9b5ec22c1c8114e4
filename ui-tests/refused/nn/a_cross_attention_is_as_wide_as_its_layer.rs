//! A cross attention is as wide as its layer.
//! Proves `QDim` of `nn::CrossAttention`.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; SrcDim = 24; TgtDim = 20; }

fn replace<Small: Arch, Large: Arch>(
    layer: &mut DecoderLayer<TgtDim, SrcDim, Small, f32, Cpu>,
    attention: CrossAttention<EmbedDim, SrcDim, Small, f32, Cpu>,
) {
    layer.cross_attention = attention;
}

fn main() {}
