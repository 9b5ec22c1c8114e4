//! A sequence is no longer than the maximum of its embedder, and no annotation has to ask for it.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! { MaxSeqLen = 16; SeqLen = 17; EmbedDim = 8; Letters = 28; Batch; }

fn embed<A: HasPositionsFor<EmbedDim>>(
    embedder: &Embedder<Letters, MaxSeqLen, EmbedDim, A, f32, Cpu>,
    ids: &TokenIds<Batch, SeqLen, Letters>,
) {
    let _embeds = embedder.forward(ids, NoneTape);
}

fn main() {}
