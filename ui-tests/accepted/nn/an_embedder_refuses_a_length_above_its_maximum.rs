//! A sequence is no longer than the maximum of its embedder.
//! Proves `S` of `nn::Embedder::forward`.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! { Letters = 28; MaxSeqLen = 16; SeqLen = 16; EmbedDim = 8; Batch; }

fn embeds<A: HasPositionsFor<EmbedDim>>(
    embedder: &Embedder<Letters, MaxSeqLen, EmbedDim, A, f32, Cpu>,
    ids: &TokenIds<Batch, SeqLen, Letters>,
) -> Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> {
    embedder.forward(ids, NoneTape)
}

fn main() {}
