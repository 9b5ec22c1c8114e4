//! There is a text for each sound of the batch.
//! Covers `B` of `models::whisper::Whisper::forward`.
//! Right with `Sounds` for `Texts` in line 17.
//! Mutants cover `Tgt` by `TgtLen` of `models::whisper::Whisper::forward`.
use typed_transformer::{
    models::whisper::{Features, Whisper, WhisperConfig},
    prelude::*,
};

dims! { Letters = 28; MaxLen = 16; TgtLen = 7; Sounds; Texts; }

trait Writer: WhisperConfig<VocabSize = Letters, MaxTgtLen = MaxLen> {}

fn logits<Config: Writer>(
    model: &Whisper<Config, f32, Cpu>,
    features: Features<Sounds, Config>,
    target: &TokenIds<Texts, TgtLen, Letters>,
) -> Result<Tensor<(Sounds, TgtLen, Letters), f32, Cpu>, OpError> {
    model.forward(features, target, NoneTape)
}

fn main() {}
