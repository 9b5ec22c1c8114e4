//! Cross-attention has the query width of its layer.
//! Covers `QDim` of `nn::CrossAttention`.
//! Right with `TgtDim` for `EmbedDim` in line 10.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; SrcDim = 24; TgtDim = 20; }

fn replace<Small: Arch, Large: Arch>(
    layer: &mut DecoderLayer<TgtDim, SrcDim, Small, f32, Cpu>,
    attention: CrossAttention<EmbedDim, SrcDim, Small, f32, Cpu>,
) {
    layer.cross_attention = attention;
}

fn main() {}
