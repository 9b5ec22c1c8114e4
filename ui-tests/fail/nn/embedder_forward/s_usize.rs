//! A length of type `usize` has no known maximum.
//! Right with `Short` for `usize` in line 7.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! { MaxSeqLen = 16; Short <= MaxSeqLen; EmbedDim = 8; Letters = 28; Batch; }

type SeqLen = usize;

fn embeds<A: HasPositionsFor<EmbedDim>>(
    embedder: &Embedder<Letters, MaxSeqLen, EmbedDim, A, f32, Cpu>,
    ids: &TokenIds<Batch, SeqLen, Letters>,
) -> Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> {
    embedder.forward(ids, NoneTape)
}

fn main() {}
