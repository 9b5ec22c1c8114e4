//! The maximum source length comes from the model's configuration.
//! Covers `MaxSrcLen` of `nn::Seq2Seq`.
//! Right with `MaxLen` for `Short` in line 9.
//! Mutants cover `SrcVocab` by `Letters` of `nn::Seq2Seq`.
use typed_transformer::prelude::*;

dims! { Letters = 28; MaxLen = 16; MaxSrcLen = 16; Short = 4; SrcLen = 5; Batch; }

trait Speech: Seq2Seq<SrcVocab = Letters, MaxSrcLen = Short> {}

fn encode<M: Speech>(
    model: &LM<M, f32, Cpu>,
    source: &TokenIds<Batch, SrcLen, Letters>,
) {
    let _encoded = model.encoder.forward(source, NoneTape).unwrap();
}

fn main() {}
