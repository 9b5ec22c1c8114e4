//! Only a product of heads and head width is split into heads.
//! Right with `Heads` for `EmbedDim` in line 10.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; NumHeads = 4; HeadDim = 2; SeqLen; Batch; }

type Heads = Product<NumHeads, HeadDim>;

fn heads(
    projected: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>,
) -> Tensor<(Batch, NumHeads, SeqLen, HeadDim), f32, Cpu> {
    split_heads(projected)
}

fn main() {}
