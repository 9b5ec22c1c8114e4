//! The residual of cross-attention adds the query, not the key.
//! Right with `query` for `key` in line 17.
//!
//! *Transformer from Scratch* calls `layer_norm1(key + attention)` in the block that its decoder uses with
//! the encoder's output as key: it runs only as long as both sequences have the same length.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; SrcLen; TgtLen; Batch; }

fn cross_attend<A: Arch>(
    attention: &MHAttention<EmbedDim, EmbedDim, EmbedDim, EmbedDim, A, f32, Cpu>,
    query: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>,
    key: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    mask: &AttentionMask<Batch, TgtLen, SrcLen>,
) {
    let attended = attention.forward(query.clone(), key.clone(), key.clone(), mask).unwrap();
    let _ = residual(key, attended).unwrap();
}

fn main() {}
