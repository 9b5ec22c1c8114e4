//! There is an embedding for each token.
//! Proves `S` of `ops::embed`.
use typed_transformer::prelude::*;

dims! { Letters = 28; SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; }

fn embeds(
    table: &Tensor<(Letters, EmbedDim), f32, Cpu>,
    ids: &TokenIds<Batch, TgtLen, Letters>,
) -> Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> {
    embed(table, ids, NoneTape)
}

fn main() {}
