//! The encoder keeps the batch.
//! Covers `B` of `models::whisper::Whisper::encoder`.
//! Right with `Sounds` for `Texts` in line 16.
use typed_transformer::{
    models::whisper::{Features, Whisper, WhisperConfig},
    prelude::*,
};

dims! { NumMelBins = 10; SrcLen = 6; Width = 8; Sounds; Texts; }

trait Reader: WhisperConfig<NumMelBins = NumMelBins, SrcLen = SrcLen, EmbedDim = Width> {}

fn states<Config: Reader>(
    model: &Whisper<Config, f32, Cpu>,
    features: Features<Sounds, Config>,
) -> Result<Tensor<(Texts, SrcLen, Width), f32, Cpu>, OpError> {
    model.encoder(features, NoneTape)
}

fn main() {}
