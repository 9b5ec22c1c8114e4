//! There is an embedding for each sequence of the batch.
//! Proves `B` of `ops::embed`.
use typed_transformer::prelude::*;

dims! { Letters = 28; SrcLen = 5; EmbedDim = 8; Batch; OtherBatch; }

fn embeds(
    table: &Tensor<(Letters, EmbedDim), f32, Cpu>,
    ids: &TokenIds<Batch, SrcLen, Letters>,
) -> Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> {
    embed(table, ids, NoneTape)
}

fn main() {}
