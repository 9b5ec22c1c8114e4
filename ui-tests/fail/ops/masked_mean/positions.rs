//! The masked mean uses padding of its own batch.
//! Covers `Positions` of `ops::masked_mean`.
//! Right with `Batch` for `OtherBatch` in line 10.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; EmbedDim = 8; Batch; OtherBatch; }

fn pool(
    encoded: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    padding: &PaddingMask<OtherBatch, SrcLen>,
) {
    let _pooled: Tensor<(Batch, EmbedDim), f32, Cpu> = masked_mean(encoded, padding);
}

fn main() {}
