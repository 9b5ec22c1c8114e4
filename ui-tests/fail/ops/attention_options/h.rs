//! There is a bias for each head of the query.
//! Covers `H` of `ops::AttentionOptions`.
//! Right with `NumHeads` for `OtherHeads` in line 14.
//! Mutants cover `K` by `SrcLen`, `Q` by `TgtLen` of `ops::AttentionOptions`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; NumHeads = 4; OtherHeads = 4; QKDim = 10; VODim = 11; Batch; }

fn attend(
    query: Tensor<(Batch, TgtLen, Product<NumHeads, QKDim>), f32, Cpu>,
    key: Tensor<(Batch, SrcLen, Product<NumHeads, QKDim>), f32, Cpu>,
    value: Tensor<(Batch, SrcLen, Product<NumHeads, VODim>), f32, Cpu>,
    mask: &AttentionMask<Batch, TgtLen, SrcLen>,
    bias: Tensor<(OtherHeads, TgtLen, SrcLen), f32, Cpu>,
) -> Result<Tensor<(Batch, TgtLen, Product<NumHeads, VODim>), f32, Cpu>, OpError> {
    let options = AttentionOptions { bias: Some(bias), ..AttentionOptions::default() };
    multi_head_attention(query, key, value, mask, options)
}

fn main() {}
