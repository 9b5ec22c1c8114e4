//! Query and key of the published sum have the same kind of tape.
//! Covers `T` of `models::transformer_from_scratch::unweighted_attention_as_published`.
//! Right with `NoneTape` for `Recorded` in line 12.
use typed_transformer::{models::transformer_from_scratch::unweighted_attention_as_published, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; NumHeads = 4; QKDim = 10; VODim = 11; Batch; }

type Recorded = typed_transformer::train::Recording<(), f32, Cpu>;

fn attend(
    query: Tensor<(Batch, TgtLen, Product<NumHeads, QKDim>), f32, Cpu, NoneTape>,
    key: Tensor<(Batch, SrcLen, Product<NumHeads, QKDim>), f32, Cpu, Recorded>,
    value: Tensor<(Batch, SrcLen, Product<NumHeads, VODim>), f32, Cpu, NoneTape>,
    mask: &AttentionMask<Batch, TgtLen, SrcLen>,
) -> Result<Tensor<(Batch, TgtLen, Product<NumHeads, VODim>), f32, Cpu, NoneTape>, OpError> {
    unweighted_attention_as_published(query, key, value, mask, AttentionOptions::default())
}

fn main() {}
