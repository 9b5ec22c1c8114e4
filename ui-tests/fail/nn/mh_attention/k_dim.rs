//! Multi-head attention reads keys of its key width.
//! Covers `KDim` of `nn::MHAttention`.
//! Right with `KeyDim` for `EmbedDim` in line 14.
use typed_transformer::prelude::*;

dims! {
    SrcLen = 5; TgtLen = 7; EmbedDim = 8; HiddenDim = 32; TgtDim = 20; KeyDim = 18;
    ValueDim = 14; Batch;
}

type Answers = Tensor<(Batch, TgtLen, HiddenDim), f32, Cpu>;

fn attend<A: Arch>(
    attention: &MHAttention<TgtDim, EmbedDim, ValueDim, HiddenDim, A, f32, Cpu>,
    query: Tensor<(Batch, TgtLen, TgtDim), f32, Cpu>,
    key: Tensor<(Batch, SrcLen, KeyDim), f32, Cpu>,
    value: Tensor<(Batch, SrcLen, ValueDim), f32, Cpu>,
    mask: &AttentionMask<Batch, TgtLen, SrcLen>,
) {
    let _answers: Answers = attention.forward(query, key, value, mask);
}

fn main() {}
