//! A mask of attention is not padding: it has a query for each key.
//! Covers `Keeps` of `ops::masked_mean`.
//! Right with `padding` for `mask` in line 10.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; EmbedDim = 8; Batch; }

fn pool(encoded: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>, padding: PaddingMask<Batch, SrcLen>) {
    let mask: AttentionMask<Batch, SrcLen, SrcLen> = mk_mask::<NoMask, PadSourceKeys, _, _>(&padding);
    let _pooled = masked_mean(encoded, &mask).unwrap();
}

fn main() {}
