//! The target vocabulary comes from the model's configuration.
//! Covers `TgtVocab` of `nn::Seq2Seq`.
//! Right with `Sounds` for `Letters` in line 8.
use typed_transformer::prelude::*;

dims! { Letters = 28; Sounds = 44; MaxLen = 16; MaxTgtLen = 12; TgtLen = 7; Batch; }

trait Speech: Seq2Seq<TgtVocab = Letters, MaxTgtLen = MaxLen> {}

fn embed<M: Speech>(
    model: &LM<M, f32, Cpu>,
    target: &TokenIds<Batch, TgtLen, Sounds>,
) {
    let _embeds = model.decoder.embedder.forward(target, NoneTape);
}

fn main() {}
