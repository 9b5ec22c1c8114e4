//! A sequence is at most as long as its embedder's maximum.
//! Covers `S` of `nn::Embedder::forward`.
//! Right with `16` for `17` in line 7.
//! Mutants cover `B` by `Batch` of `nn::Embedder::forward`.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! { Letters = 28; MaxSeqLen = 16; SeqLen = 17; EmbedDim = 8; Batch; }

fn embeds<A: HasPositionsFor<EmbedDim>>(
    embedder: &Embedder<Letters, MaxSeqLen, EmbedDim, A, f32, Cpu>,
    ids: &TokenIds<Batch, SeqLen, Letters>,
) -> Result<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, OpError> {
    embedder.forward(ids, NoneTape)
}

fn main() {}
