//! A decoder-only model reads tokens of the vocabulary that it writes.
//! Right with `Letters` for `Sounds` in line 11.
use typed_transformer::prelude::*;

dims! { Letters = 28; Sounds = 28; Max = 16; SeqLen = 4; Batch; }

trait Writes: SingleStack<VocabSize = Letters, MaxSeqLen = Max> {}

fn logits<M: Writes>(
    model: &DecoderOnly<M, f32, Cpu>,
    ids: &TokenIds<Batch, SeqLen, Sounds>,
) -> Tensor<(Batch, SeqLen, Letters), f32, Cpu> {
    model.forward(ids, NoneTape)
}

fn main() {}
