//! A length of type `Unchecked` has no known maximum.
//! Right with `Short` for `Unchecked` in line 7.
use typed_transformer::{dims::Unchecked, nn::HasPositionsFor, prelude::*};

dims! { MaxSeqLen = 16; Short <= MaxSeqLen; EmbedDim = 8; Letters = 28; Batch; }

type SeqLen = Unchecked;

fn embeds<A: HasPositionsFor<EmbedDim>>(
    embedder: &Embedder<Letters, MaxSeqLen, EmbedDim, A, f32, Cpu>,
    ids: &TokenIds<Batch, SeqLen, Letters>,
) -> Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> {
    embedder.forward(ids, NoneTape)
}

fn main() {}
