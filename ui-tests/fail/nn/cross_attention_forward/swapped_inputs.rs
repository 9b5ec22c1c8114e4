//! Cross-attention takes the target as query and the source as key.
//! Right with `target` for the first `source` in line 14.
use typed_transformer::prelude::*;

dims! { SrcLen = 4; TgtLen = 4; EmbedDim = 8; Batch; }

fn attend<A: Arch>(
    attention: &CrossAttention<EmbedDim, EmbedDim, A, f32, Cpu>,
    target: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>,
    source: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    target_padding: &PaddingMask<Batch, TgtLen>,
    source_padding: &PaddingMask<Batch, SrcLen>,
) -> Result<Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>, OpError> {
    attention.forward(source.clone(), source, target_padding, source_padding)
}

fn main() {}
