//! Pooled features have the width of the encoder and no sequence length.
//! Right with `EmbedDim` for `SeqLen` in line 13.
use typed_transformer::prelude::*;

dims! { Letters = 28; Max = 16; SeqLen = 8; EmbedDim = 8; Batch; }

trait Reads: SingleStack<VocabSize = Letters, MaxSeqLen = Max, EmbedDim = EmbedDim> {}

fn features<M: Reads>(
    model: &EncoderOnly<M, f32, Cpu>,
    ids: &TokenIds<Batch, SeqLen, Letters>,
) {
    let _features: Tensor<(Batch, SeqLen), f32, Cpu> = model.pooled(ids, NoneTape).unwrap();
}

fn main() {}
