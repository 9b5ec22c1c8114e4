//! A length without a name is at most the embedder's maximum.
//! Right with `16` for `17` in line 7.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! { Letters = 28; MaxSeqLen = 16; EmbedDim = 8; Batch; }

type SeqLen = Const<17>;

fn embeds<A: HasPositionsFor<EmbedDim>>(
    embedder: &Embedder<Letters, MaxSeqLen, EmbedDim, A, f32, Cpu>,
    ids: &TokenIds<Batch, SeqLen, Letters>,
) -> Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> {
    embedder.forward(ids, NoneTape)
}

fn main() {}
