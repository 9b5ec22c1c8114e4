//! The self-attention of a decoder layer is causal.
//! Covers `Mask` of `nn::SelfAttention`.
//! Right with `CausalMask` for `NoMask` in line 10.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; }

fn replace<A: Arch>(
    layer: &mut DecoderLayer<EmbedDim, EmbedDim, A, f32, Cpu>,
    attention: SelfAttention<EmbedDim, NoMask, A, f32, Cpu>,
) {
    layer.self_attention = attention;
}

fn main() {}
