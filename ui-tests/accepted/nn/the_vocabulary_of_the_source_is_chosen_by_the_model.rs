//! The vocabulary of the source is chosen by the model.
//! Proves `SrcVocab` of `nn::Seq2Seq`.
use typed_transformer::prelude::*;

dims! { Letters = 28; Sounds = 44; MaxLen = 16; MaxSrcLen = 16; SrcLen = 5; Batch; }

trait Speech: Seq2Seq<SrcVocab = Letters, MaxSrcLen = MaxLen> {}

fn encode<M: Speech>(
    model: &LM<M, f32, Cpu>,
    source: &TokenIds<Batch, SrcLen, Letters>,
) {
    let _encoded = model.encoder.forward(source, NoneTape);
}

fn main() {}
