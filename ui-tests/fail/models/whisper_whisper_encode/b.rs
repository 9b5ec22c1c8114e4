//! What a model has heard has the batch of the sounds.
//! Covers `B` of `models::whisper::Whisper::encode`.
//! Right with `Sounds` for `Texts` in line 16.
use typed_transformer::{
    models::whisper::{EncodedWhisper, Features, Whisper, WhisperConfig},
    prelude::*,
};

dims! { NumMelBins = 10; SrcLen = 6; Sounds; Texts; }

trait Reader: WhisperConfig<NumMelBins = NumMelBins, SrcLen = SrcLen> {}

fn encode<'a, Config: Reader>(
    model: &'a Whisper<Config, f32, Cpu>,
    features: Features<Sounds, Config>,
) -> Result<EncodedWhisper<'a, Texts, Config>, OpError> {
    model.encode(features)
}

fn main() {}
