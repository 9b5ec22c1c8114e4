//! Even where values are summed without their weights there is one for each key.
//! Proves `K` of `ops::sum_of_values`.
use typed_transformer::{ops::sum_of_values, prelude::*};

dims! { NumHeads = 4; HeadDim = 2; TgtLen = 5; SrcLen = 5; OtherLen = 5; Batch; }
type Heads = Product<NumHeads, HeadDim>;

fn sum(
    query: Tensor<(Batch, TgtLen, Heads), f32, Cpu>,
    key: Tensor<(Batch, SrcLen, Heads), f32, Cpu>,
    value: Tensor<(Batch, OtherLen, Heads), f32, Cpu>,
    mask: &AttentionMask<Batch, TgtLen, SrcLen>,
) -> Tensor<(Batch, TgtLen, Heads), f32, Cpu> {
    sum_of_values(query, key, value, mask, AttentionScale::HeadDim, MaskFill::MinValue)
}

fn main() {}
