//! A self attention is as wide as its layer.
//! Proves `EmbedDim` of `nn::SelfAttention`.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; HiddenDim = 32; }

fn replace<Small: Arch, Large: Arch>(
    layer: &mut EncoderLayer<EmbedDim, Small, f32, Cpu>,
    attention: SelfAttention<EmbedDim, NoMask, Small, f32, Cpu>,
) {
    layer.self_attention = attention;
}

fn main() {}
