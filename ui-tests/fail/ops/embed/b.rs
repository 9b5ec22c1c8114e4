//! Embedding tokens keeps the batch.
//! Covers `B` of `ops::embed`.
//! Right with `Batch` for `OtherBatch` in line 10.
use typed_transformer::prelude::*;

dims! { Letters = 28; SrcLen = 5; EmbedDim = 8; Batch; OtherBatch; }

fn embeds(
    table: &Tensor<(Letters, EmbedDim), f32, Cpu>,
    ids: &TokenIds<OtherBatch, SrcLen, Letters>,
) -> Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> {
    embed(table, ids, NoneTape)
}

fn main() {}
