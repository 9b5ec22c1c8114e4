//! A self attention belongs to one architecture.
//! Proves `A` of `nn::SelfAttention`.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; }

fn replace<Small: Arch, Large: Arch>(
    layer: &mut EncoderLayer<EmbedDim, Small, f32, Cpu>,
    attention: SelfAttention<EmbedDim, NoMask, Small, f32, Cpu>,
) {
    layer.self_attention = attention;
}

fn main() {}
