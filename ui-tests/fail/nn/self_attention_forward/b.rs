//! Self-attention uses the padding of its own batch.
//! Covers `B` of `nn::SelfAttention::forward`.
//! Right with `Batch` for `OtherBatch` in line 11.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; EmbedDim = 8; Batch; OtherBatch; }

fn attend<A: Arch>(
    attention: &SelfAttention<EmbedDim, NoMask, A, f32, Cpu>,
    input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    padding: &PaddingMask<OtherBatch, SrcLen>,
) -> Result<Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>, OpError> {
    attention.forward(input, padding)
}

fn main() {}
