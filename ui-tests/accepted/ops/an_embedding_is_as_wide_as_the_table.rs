//! An embedding is as wide as the table.
//! Proves `M` of `ops::embed`.
use typed_transformer::prelude::*;

dims! { Letters = 28; SrcLen = 5; EmbedDim = 8; HiddenDim = 32; Batch; }

fn embeds(
    table: &Tensor<(Letters, EmbedDim), f32, Cpu>,
    ids: &TokenIds<Batch, SrcLen, Letters>,
) -> Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> {
    embed(table, ids, NoneTape)
}

fn main() {}
