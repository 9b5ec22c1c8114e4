//! An embedder has one maximum sequence length.
//! Covers `MaxSeqLen` of `nn::Embedder`.
//! Right with `MaxLen` for `Short` in line 9.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! { Letters = 28; MaxLen = 16; Short = 4; SrcLen = 5; EmbedDim = 8; Batch; }

fn embeds<A: HasPositionsFor<EmbedDim>>(
    embedder: &Embedder<Letters, Short, EmbedDim, A, f32, Cpu>,
    ids: &TokenIds<Batch, SrcLen, Letters>,
) -> Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> {
    embedder.forward(ids, NoneTape)
}

fn main() {}
