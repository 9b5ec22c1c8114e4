//! A Whisper reads two frames for each position, not one.
//! Right with `NumFrames` for `SrcLen` in line 16.
use typed_transformer::{
    models::whisper::{Whisper, WhisperConfig},
    prelude::*,
};

dims! { NumMelBins = 10; SrcLen = 6; Sounds; }

type NumFrames = Product<SrcLen, Const<2>>;

trait Reader: WhisperConfig<NumMelBins = NumMelBins, SrcLen = SrcLen> {}

fn encode<Config: Reader>(
    model: &Whisper<Config, f32, Cpu>,
    features: Tensor<(Sounds, NumMelBins, SrcLen), f32, Cpu>,
) {
    let _encoded = model.encode::<Sounds>(features).unwrap();
}

fn main() {}
