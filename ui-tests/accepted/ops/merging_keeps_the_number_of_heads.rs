//! Heads side by side are as many as there were.
//! Proves `H` of `ops::merge_heads`.
use typed_transformer::prelude::*;

dims! { NumHeads = 4; OtherHeads = 4; HeadDim = 2; SeqLen; Batch; }

fn merged(
    heads: Tensor<(Batch, NumHeads, SeqLen, HeadDim), f32, Cpu>,
) -> Tensor<(Batch, SeqLen, Product<NumHeads, HeadDim>), f32, Cpu> {
    merge_heads(heads)
}

fn main() {}
