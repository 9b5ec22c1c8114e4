//! The source vocabulary comes from the model's configuration.
//! Covers `SrcVocab` of `nn::Seq2Seq`.
//! Right with `Letters` for `Sounds` in line 8.
use typed_transformer::prelude::*;

dims! { Letters = 28; Sounds = 44; MaxLen = 16; MaxSrcLen = 16; SrcLen = 5; Batch; }

trait Speech: Seq2Seq<SrcVocab = Sounds, MaxSrcLen = MaxLen> {}

fn encode<M: Speech>(
    model: &LM<M, f32, Cpu>,
    source: &TokenIds<Batch, SrcLen, Letters>,
) {
    let _encoded = model.encoder.forward(source, NoneTape);
}

fn main() {}
