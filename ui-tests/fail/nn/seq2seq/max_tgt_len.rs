//! The maximum target length comes from the model's configuration.
//! Covers `MaxTgtLen` of `nn::Seq2Seq`.
//! Right with `MaxLen` for `Short` in line 9.
//! Mutants cover `TgtVocab` by `Sounds` of `nn::Seq2Seq`.
use typed_transformer::prelude::*;

dims! { Sounds = 44; MaxLen = 16; MaxTgtLen = 12; Short = 4; TgtLen = 7; Batch; }

trait Speech: Seq2Seq<TgtVocab = Sounds, MaxTgtLen = Short> {}

fn embed<M: Speech>(
    model: &LM<M, f32, Cpu>,
    target: &TokenIds<Batch, TgtLen, Sounds>,
) {
    let _embeds = model.decoder.embedder.forward(target, NoneTape).unwrap();
}

fn main() {}
