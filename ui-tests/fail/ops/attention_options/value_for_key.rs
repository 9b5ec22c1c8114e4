//! A query is compared with keys, whatever the options are.
//! Right with `key` for the first `value` in line 15.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; NumHeads = 4; QKDim = 10; VODim = 10; Batch; }

fn attend(
    query: Tensor<(Batch, NumHeads, TgtLen, QKDim), f32, Cpu>,
    key: Tensor<(Batch, NumHeads, SrcLen, QKDim), f32, Cpu>,
    value: Tensor<(Batch, NumHeads, SrcLen, VODim), f32, Cpu>,
    mask: &AttentionMask<Batch, TgtLen, SrcLen>,
    bias: Tensor<(NumHeads, TgtLen, SrcLen), f32, Cpu>,
) -> Result<Tensor<(Batch, NumHeads, TgtLen, VODim), f32, Cpu>, OpError> {
    let options = AttentionOptions { dropout: 0.1, bias: Some(bias), ..AttentionOptions::default() };
    attention(query, value, value.clone(), mask, options)
}

fn main() {}
