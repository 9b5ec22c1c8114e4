//! A self attention takes the padding of its own batch.
//! Proves `B` of `nn::SelfAttention::forward`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; EmbedDim = 8; Batch; OtherBatch; }

fn attend<A: Arch>(
    attention: &SelfAttention<EmbedDim, NoMask, A, f32, Cpu>,
    input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    padding: &PaddingMask<Batch, SrcLen>,
) -> Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> {
    attention.forward(input, padding)
}

fn main() {}
