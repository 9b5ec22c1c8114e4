//! Cross-attention returns one vector per query, not per key.
//! Right with `TgtLen` for `SrcLen` in line 15.
use typed_transformer::prelude::*;

dims! { SrcLen = 4; TgtLen = 4; EmbedDim = 8; Batch; }

fn attend<A: Arch>(
    attention: &CrossAttention<EmbedDim, EmbedDim, A, f32, Cpu>,
    target: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>,
    source: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    target_padding: &PaddingMask<Batch, TgtLen>,
    source_padding: &PaddingMask<Batch, SrcLen>,
) {
    let answers = attention.forward(target, source, target_padding, source_padding);
    let _answers: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> = answers;
}

fn main() {}
