//! An embedder checks the sequence length without a type annotation on the result.
//! Right with `16` for `17` in line 5.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! { MaxSeqLen = 16; SeqLen = 17; EmbedDim = 8; Letters = 28; Batch; }

fn embed<A: HasPositionsFor<EmbedDim>>(
    embedder: &Embedder<Letters, MaxSeqLen, EmbedDim, A, f32, Cpu>,
    ids: &TokenIds<Batch, SeqLen, Letters>,
) {
    let _embeds = embedder.forward(ids, NoneTape);
}

fn main() {}
