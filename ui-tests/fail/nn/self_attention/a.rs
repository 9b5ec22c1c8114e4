//! Self-attention belongs to one architecture.
//! Covers `A` of `nn::SelfAttention`.
//! Right with `Small` for `Large` in line 10.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; }

fn replace<Small: Arch, Large: Arch>(
    layer: &mut EncoderLayer<EmbedDim, Small, f32, Cpu>,
    attention: SelfAttention<EmbedDim, NoMask, Large, f32, Cpu>,
) {
    layer.self_attention = attention;
}

fn main() {}
