//! Self-attention has the embedding width of its layer.
//! Covers `EmbedDim` of `nn::SelfAttention`.
//! Right with `EmbedDim` for `HiddenDim` in line 10.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; HiddenDim = 32; }

fn replace<Small: Arch, Large: Arch>(
    layer: &mut EncoderLayer<EmbedDim, Small, f32, Cpu>,
    attention: SelfAttention<HiddenDim, NoMask, Small, f32, Cpu>,
) {
    layer.self_attention = attention;
}

fn main() {}
