//! A mask has a column for each key, with a bias or without.
//! Right with `SrcLen` for the second `TgtLen` in line 11.
use typed_transformer::prelude::*;

dims! { SrcLen = 7; TgtLen = 7; NumHeads = 4; HeadDim = 2; Batch; }

fn attend(
    query: Tensor<(Batch, TgtLen, Product<NumHeads, HeadDim>), f32, Cpu>,
    key: Tensor<(Batch, SrcLen, Product<NumHeads, HeadDim>), f32, Cpu>,
    value: Tensor<(Batch, SrcLen, Product<NumHeads, HeadDim>), f32, Cpu>,
    mask: &AttentionMask<Batch, TgtLen, TgtLen>,
    bias: Tensor<(NumHeads, TgtLen, SrcLen), f32, Cpu>,
) -> Result<Tensor<(Batch, TgtLen, Product<NumHeads, HeadDim>), f32, Cpu>, OpError> {
    let options = AttentionOptions { bias: Some(bias), ..AttentionOptions::default() };
    multi_head_attention(query, key, value, mask, options)
}

fn main() {}
