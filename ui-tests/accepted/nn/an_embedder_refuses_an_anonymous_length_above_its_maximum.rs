//! A sequence is no longer than the maximum of its embedder, though its length has no name.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! { Letters = 28; MaxSeqLen = 16; EmbedDim = 8; Batch; }

type SeqLen = Const<16>;

fn embeds<A: HasPositionsFor<EmbedDim>>(
    embedder: &Embedder<Letters, MaxSeqLen, EmbedDim, A, f32, Cpu>,
    ids: &TokenIds<Batch, SeqLen, Letters>,
) -> Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> {
    embedder.forward(ids, NoneTape)
}

fn main() {}
