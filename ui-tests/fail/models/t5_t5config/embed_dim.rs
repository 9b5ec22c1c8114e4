//! The width of a model comes from its configuration.
//! Covers `EmbedDim` of `models::t5::T5Config`.
//! Right with `EmbedDim` for `OtherEmbedDim` in line 8.
use typed_transformer::{models::t5::{T5, T5Config}, prelude::*};

dims! { EmbedDim = 8; OtherEmbedDim = 8; }

trait Small: T5Config<EmbedDim = OtherEmbedDim> {}

fn read<Config: Small>(model: &T5<Config, f32, Cpu>) {
    let _weight: &Tensor<(EmbedDim,), f32, Cpu> = &model.encoder_norm;
}

fn main() {}
