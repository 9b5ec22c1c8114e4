//! An embedder reads tokens of its own vocabulary.
//! Covers `VocabSize` of `nn::Embedder`.
//! Right with `Letters` for `Sounds` in line 10.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! { Letters = 28; Sounds = 28; MaxSeqLen = 16; SeqLen = 4; EmbedDim = 8; Batch; }

fn embeds<A: HasPositionsFor<EmbedDim>>(
    embedder: &Embedder<Letters, MaxSeqLen, EmbedDim, A, f32, Cpu>,
    ids: &TokenIds<Batch, SeqLen, Sounds>,
) -> Result<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, OpError> {
    embedder.forward(ids, NoneTape)
}

fn main() {}
