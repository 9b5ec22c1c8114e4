//! A width that is not a product of heads is not split into heads, though its size would do.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; NumHeads = 4; HeadDim = 2; SeqLen; Batch; }

type Heads = Product<NumHeads, HeadDim>;

fn heads(
    projected: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>,
) -> Tensor<(Batch, NumHeads, SeqLen, HeadDim), f32, Cpu> {
    split_heads(projected)
}

fn main() {}
