//! A sequence is at most as long as the block size of a decoder-only model.
//! Right with `16` for `17` in line 5.
use typed_transformer::prelude::*;

dims! { Letters = 28; Block = 16; SeqLen = 17; Batch; }

trait Writes: SingleStack<VocabSize = Letters, MaxSeqLen = Block> {}

fn logits<M: Writes>(
    model: &DecoderOnly<M, f32, Cpu>,
    ids: &TokenIds<Batch, SeqLen, Letters>,
) -> Tensor<(Batch, SeqLen, Letters), f32, Cpu> {
    model.forward(ids, NoneTape)
}

fn main() {}
