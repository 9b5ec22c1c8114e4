//! A plain width is no product of heads.
//! Right with `AllHeads` for `EmbedDim` in line 9.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; NumHeads = 2; HeadDim = 4; SeqLen; Batch; }

type AllHeads = Product<NumHeads, HeadDim>;

fn split(x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>) {
    let _heads = rearrange!(x: (Batch, SeqLen, Product<NumHeads, HeadDim>) -> (Batch, NumHeads, SeqLen, HeadDim)).unwrap();
}

fn main() {}
