//! Self-attention weights use the padding of their own sequence.
//! Covers `S` of `nn::SelfAttention::attention_weights`.
//! Right with `SrcLen` for `TgtLen` in line 12.
//! Mutants cover `B` by `Batch` of `nn::SelfAttention::attention_weights`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; OtherBatch; }

fn weigh<A: Arch>(
    attention: &SelfAttention<EmbedDim, NoMask, A, f32, Cpu>,
    input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    padding: &PaddingMask<Batch, TgtLen>,
) {
    let _weights = attention.attention_weights(input, padding);
}

fn main() {}
