//! Cross-attention uses the padding of its own batch.
//! Covers `B` of `nn::CrossAttention::forward`.
//! Right with `Batch` for `OtherBatch` in line 12.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; SrcDim = 24; TgtDim = 20; Batch; OtherBatch; }

fn attend<A: Arch>(
    attention: &CrossAttention<TgtDim, SrcDim, A, f32, Cpu>,
    target: Tensor<(Batch, TgtLen, TgtDim), f32, Cpu>,
    source: Tensor<(Batch, SrcLen, SrcDim), f32, Cpu>,
    target_padding: &PaddingMask<OtherBatch, TgtLen>,
    source_padding: &PaddingMask<Batch, SrcLen>,
) -> Tensor<(Batch, TgtLen, TgtDim), f32, Cpu> {
    attention.forward(target, source, target_padding, source_padding)
}

fn main() {}
