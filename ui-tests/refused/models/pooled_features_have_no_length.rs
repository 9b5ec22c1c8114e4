//! Features of a sequence as a whole have the width of the encoder and no length.
use typed_transformer::prelude::*;

dims! { Letters = 28; Max = 16; SeqLen = 8; EmbedDim = 8; Batch; }

trait Reads: SingleStack<VocabSize = Letters, MaxSeqLen = Max, EmbedDim = EmbedDim> {}

fn features<M: Reads>(
    model: &EncoderOnly<M, f32, Cpu>,
    ids: &TokenIds<Batch, SeqLen, Letters>,
) {
    let _features: Tensor<(Batch, SeqLen), f32, Cpu> = model.pooled(ids, NoneTape);
}

fn main() {}
