//! An embedder keeps the batch.
//! Covers `B` of `nn::Embedder::forward`.
//! Right with `Batch` for `OtherBatch` in line 10.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! { Letters = 28; MaxLen = 16; SrcLen = 5; EmbedDim = 8; Batch; OtherBatch; }

fn embeds<A: HasPositionsFor<EmbedDim>>(
    embedder: &Embedder<Letters, MaxLen, EmbedDim, A, f32, Cpu>,
    ids: &TokenIds<OtherBatch, SrcLen, Letters>,
) -> Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> {
    embedder.forward(ids, NoneTape)
}

fn main() {}
