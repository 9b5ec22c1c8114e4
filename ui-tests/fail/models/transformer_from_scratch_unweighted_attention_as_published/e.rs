//! Query and key of the published sum have the same element type.
//! Covers `E` of `models::transformer_from_scratch::unweighted_attention_as_published`.
//! Right with `f32` for `f64` in line 16.
//! Mutants cover `B` by `Batch` of `models::transformer_from_scratch::unweighted_attention_as_published`.
//! Mutants cover `H` by `NumHeads` of `models::transformer_from_scratch::unweighted_attention_as_published`.
//! Mutants cover `K` by `SrcLen` of `models::transformer_from_scratch::unweighted_attention_as_published`.
//! Mutants cover `Q` by `TgtLen` of `models::transformer_from_scratch::unweighted_attention_as_published`.
//! Mutants cover `QKDim` by `QKDim` of `models::transformer_from_scratch::unweighted_attention_as_published`.
//! Mutants cover `VODim` by `VODim` of `models::transformer_from_scratch::unweighted_attention_as_published`.
use typed_transformer::{models::transformer_from_scratch::unweighted_attention_as_published, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; NumHeads = 4; QKDim = 10; VODim = 11; Batch; }

fn attend(
    query: Tensor<(Batch, TgtLen, Product<NumHeads, QKDim>), f32, Cpu>,
    key: Tensor<(Batch, SrcLen, Product<NumHeads, QKDim>), f64, Cpu>,
    value: Tensor<(Batch, SrcLen, Product<NumHeads, VODim>), f32, Cpu>,
    mask: &AttentionMask<Batch, TgtLen, SrcLen>,
) -> Result<Tensor<(Batch, TgtLen, Product<NumHeads, VODim>), f32, Cpu>, OpError> {
    unweighted_attention_as_published(query, key, value, mask, AttentionOptions::default())
}

fn main() {}
