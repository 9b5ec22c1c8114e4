//! The self-attention of an encoder layer is not causal.
//! Right with `NoMask` for `CausalMask` in line 9.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; }

fn replace<A: Arch>(
    layer: &mut EncoderLayer<EmbedDim, A, f32, Cpu>,
    attention: SelfAttention<EmbedDim, CausalMask, A, f32, Cpu>,
) {
    layer.self_attention = attention;
}

fn main() {}
