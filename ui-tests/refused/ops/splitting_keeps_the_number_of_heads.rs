//! A projection is split into the heads that it was made for.
//! Proves `H` of `ops::split_heads`.
use typed_transformer::prelude::*;

dims! { NumHeads = 4; OtherHeads = 4; HeadDim = 2; SeqLen; Batch; }

fn heads(
    projected: Tensor<(Batch, SeqLen, Product<OtherHeads, HeadDim>), f32, Cpu>,
) -> Tensor<(Batch, NumHeads, SeqLen, HeadDim), f32, Cpu> {
    split_heads(projected)
}

fn main() {}
