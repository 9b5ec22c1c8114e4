//! A table of embeddings is looked up by tokens of its vocabulary.
//! Proves `V` of `ops::embed`.
use typed_transformer::prelude::*;

dims! { Letters = 28; Sounds = 28; EmbedDim = 8; SeqLen; Batch; }

fn embeds(
    table: &Tensor<(Letters, EmbedDim), f32, Cpu>,
    ids: &TokenIds<Batch, SeqLen, Letters>,
) -> Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> {
    embed(table, ids, NoneTape)
}

fn main() {}
