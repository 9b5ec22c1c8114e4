//! A model is compared with a `config.json` only if it is `Pretrained`: others name its settings.
//! Covers `Model` of `weights::ensure_config`.
//! Right with `Gpt2` for `DecoderOnly` in line 9.
use typed_transformer::{models::gpt2::{Gpt2, Gpt2Config}, prelude::*, weights::ensure_config};

trait Small: Gpt2Config + SingleStack {}

fn is_of<Config: Small>(folder: &str, _: fn(Gpt2<Config, f32, Cpu>)) -> bool {
    ensure_config::<DecoderOnly<Config, f32, Cpu>>(folder).is_ok()
}

fn main() {}
