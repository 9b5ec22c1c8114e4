//! A decoder does not see what it is still to write: the self-attention of its layers is causal.
//! Proves `Mask` of `nn::SelfAttention`.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; }

fn replace<A: Arch>(
    layer: &mut DecoderLayer<EmbedDim, EmbedDim, A, f32, Cpu>,
    attention: SelfAttention<EmbedDim, CausalMask, A, f32, Cpu>,
) {
    layer.self_attention = attention;
}

fn main() {}
