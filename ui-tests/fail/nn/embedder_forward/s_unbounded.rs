//! A run-time length is declared with its maximum.
//! Right with `Short` for `Free` in line 7.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! { MaxSeqLen = 16; Short <= MaxSeqLen; Free; EmbedDim = 8; Letters = 28; Batch; }

type SeqLen = Free;

fn embeds<A: HasPositionsFor<EmbedDim>>(
    embedder: &Embedder<Letters, MaxSeqLen, EmbedDim, A, f32, Cpu>,
    ids: &TokenIds<Batch, SeqLen, Letters>,
) -> Result<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, OpError> {
    embedder.forward(ids, NoneTape)
}

fn main() {}
