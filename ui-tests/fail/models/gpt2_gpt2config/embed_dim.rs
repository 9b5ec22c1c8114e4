//! The width of a model comes from its configuration.
//! Covers `EmbedDim` of `models::gpt2::Gpt2Config`.
//! Right with `EmbedDim` for `OtherEmbedDim` in line 8.
use typed_transformer::{models::gpt2::{Gpt2, Gpt2Config}, prelude::*};

dims! { EmbedDim = 8; OtherEmbedDim = 8; }

trait Small: Gpt2Config<EmbedDim = OtherEmbedDim> {}

fn read<Config: Small>(model: &Gpt2<Config, f32, Cpu>) {
    let _weight: &Tensor<(EmbedDim,), f32, Cpu> = &model.norm.weight;
}

fn main() {}
