//! A model that is loaded from a folder says how others name its parameters.
//! Covers `Self` of `weights::Pretrained`.
//! Right with `Gpt2` for `DecoderOnly` in line 9.
use typed_transformer::{models::gpt2::{Gpt2, Gpt2Config}, prelude::*, weights::load_pretrained};

trait Small: Gpt2Config + SingleStack {}

fn open<Config: Small>(device: &Cpu, _: fn(Gpt2<Config, f32, Cpu>)) {
    let _model = load_pretrained::<DecoderOnly<Config, f32, Cpu>, _, _>("folder", device);
}

fn main() {}
