//! The dimensions of a Whisper come from its configuration.
//! Covers `Self` of `models::whisper::WhisperConfig`.
//! Right with `Small` for `Other` in line 11.
use typed_transformer::{
    models::whisper::{Whisper, WhisperConfig},
    prelude::*,
};

struct Other;

fn count<Small: WhisperConfig>(model: &Whisper<Other, f32, Cpu>) {
    let _model = model;
}

fn main() {}
