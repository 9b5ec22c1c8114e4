//! A batch is averaged over what is real in it.
//! Proves `B` of `ops::masked_mean`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; EmbedDim = 8; Batch; OtherBatch; }

fn pool(
    encoded: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    padding: &PaddingMask<Batch, SrcLen>,
) {
    let _pooled: Tensor<(Batch, EmbedDim), f32, Cpu> = masked_mean(encoded, padding);
}

fn main() {}
