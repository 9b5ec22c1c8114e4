//! The sum of values reads one value per key.
//! Covers `K` of `models::transformer_from_scratch::unweighted_attention_as_published`.
//! Right with `SrcLen` for `OtherLen` in line 12.
use typed_transformer::{models::transformer_from_scratch::unweighted_attention_as_published, prelude::*};

dims! { NumHeads = 4; HeadDim = 2; TgtLen = 5; SrcLen = 5; OtherLen = 5; Batch; }
type Heads = Product<NumHeads, HeadDim>;

fn sum(
    query: Tensor<(Batch, TgtLen, Heads), f32, Cpu>,
    key: Tensor<(Batch, SrcLen, Heads), f32, Cpu>,
    value: Tensor<(Batch, OtherLen, Heads), f32, Cpu>,
    mask: &AttentionMask<Batch, TgtLen, SrcLen>,
) -> Tensor<(Batch, TgtLen, Heads), f32, Cpu> {
    unweighted_attention_as_published(query, key, value, mask, AttentionScale::HeadDim, MaskFill::MinValue)
}

fn main() {}
