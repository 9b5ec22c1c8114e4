//! Embedding tokens keeps the sequence length.
//! Covers `S` of `ops::embed`.
//! Right with `SrcLen` for `TgtLen` in line 10.
use typed_transformer::prelude::*;

dims! { Letters = 28; SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; }

fn embeds(
    table: &Tensor<(Letters, EmbedDim), f32, Cpu>,
    ids: &TokenIds<Batch, TgtLen, Letters>,
) -> Result<Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>, OpError> {
    embed(table, ids, NoneTape)
}

fn main() {}
