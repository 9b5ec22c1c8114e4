//! A cross attention belongs to one architecture.
//! Proves `A` of `nn::CrossAttention`.
use typed_transformer::prelude::*;

dims! { SrcDim = 24; TgtDim = 20; }

fn replace<Small: Arch, Large: Arch>(
    layer: &mut DecoderLayer<TgtDim, SrcDim, Small, f32, Cpu>,
    attention: CrossAttention<TgtDim, SrcDim, Small, f32, Cpu>,
) {
    layer.cross_attention = attention;
}

fn main() {}
