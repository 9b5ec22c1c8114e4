//! The vocabulary of a single-stack model comes from its configuration.
//! Covers `VocabSize` of `nn::SingleStack`.
//! Right with `Letters` for `Sounds` in line 8.
use typed_transformer::prelude::*;

dims! { Letters = 28; Sounds = 44; MaxLen = 16; SrcLen = 5; Batch; }

trait Writer: SingleStack<VocabSize = Sounds, MaxSeqLen = MaxLen> {}

fn logits<M: Writer>(model: &DecoderOnly<M, f32, Cpu>, text: &TokenIds<Batch, SrcLen, Letters>) {
    let _logits = model.forward(text, NoneTape);
}

fn main() {}
