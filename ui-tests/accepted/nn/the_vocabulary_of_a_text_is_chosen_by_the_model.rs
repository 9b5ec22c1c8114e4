//! The vocabulary of a text is chosen by the model.
//! Proves `VocabSize` of `nn::SingleStack`.
use typed_transformer::prelude::*;

dims! { Letters = 28; Sounds = 44; MaxLen = 16; SrcLen = 5; Batch; }

trait Writer: SingleStack<VocabSize = Letters, MaxSeqLen = MaxLen> {}

fn logits<M: Writer>(model: &DecoderOnly<M, f32, Cpu>, text: &TokenIds<Batch, SrcLen, Letters>) {
    let _logits = model.forward(text, NoneTape);
}

fn main() {}
