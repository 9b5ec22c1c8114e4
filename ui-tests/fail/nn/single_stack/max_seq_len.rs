//! The maximum length of a single-stack model comes from its configuration.
//! Covers `MaxSeqLen` of `nn::SingleStack`.
//! Right with `MaxLen` for `Short` in line 9.
//! Mutants cover `VocabSize` by `Letters` of `nn::SingleStack`.
use typed_transformer::prelude::*;

dims! { Letters = 28; MaxLen = 16; Short = 4; SrcLen = 5; Batch; }

trait Writer: SingleStack<VocabSize = Letters, MaxSeqLen = Short> {}

fn logits<M: Writer>(model: &DecoderOnly<M, f32, Cpu>, text: &TokenIds<Batch, SrcLen, Letters>) {
    let _logits = model.forward(text, NoneTape).unwrap();
}

fn main() {}
