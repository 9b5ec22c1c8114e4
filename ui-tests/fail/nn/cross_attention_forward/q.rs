//! Cross-attention uses the padding of its queries.
//! Covers `Q` of `nn::CrossAttention::forward`.
//! Right with `TgtLen` for `SrcLen` in line 12.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; SrcDim = 24; TgtDim = 20; Batch; }

fn attend<A: Arch>(
    attention: &CrossAttention<TgtDim, SrcDim, A, f32, Cpu>,
    target: Tensor<(Batch, TgtLen, TgtDim), f32, Cpu>,
    source: Tensor<(Batch, SrcLen, SrcDim), f32, Cpu>,
    target_padding: &PaddingMask<Batch, SrcLen>,
    source_padding: &PaddingMask<Batch, SrcLen>,
) -> Tensor<(Batch, TgtLen, TgtDim), f32, Cpu> {
    attention.forward(target, source, target_padding, source_padding)
}

fn main() {}
