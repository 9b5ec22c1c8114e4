//! Cross-attention has one width of keys and values.
//! Covers `KVDim` of `nn::CrossAttention`.
//! Right with `SrcDim` for `EmbedDim` in line 9.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; SrcDim = 24; TgtDim = 20; Batch; }

fn attend<A: Arch>(
    attention: &CrossAttention<TgtDim, EmbedDim, A, f32, Cpu>,
    target: Tensor<(Batch, TgtLen, TgtDim), f32, Cpu>,
    source: Tensor<(Batch, SrcLen, SrcDim), f32, Cpu>,
    target_padding: &PaddingMask<Batch, TgtLen>,
    source_padding: &PaddingMask<Batch, SrcLen>,
) -> Tensor<(Batch, TgtLen, TgtDim), f32, Cpu> {
    attention.forward(target, source, target_padding, source_padding)
}

fn main() {}
