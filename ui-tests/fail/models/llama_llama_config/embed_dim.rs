//! The width of a model comes from its configuration.
//! Covers `EmbedDim` of `models::llama::LlamaConfig`.
//! Right with `EmbedDim` for `OtherEmbedDim` in line 8.
use typed_transformer::{models::llama::{Llama, LlamaConfig}, prelude::*};

dims! { EmbedDim = 8; OtherEmbedDim = 8; }

trait Small: LlamaConfig<EmbedDim = OtherEmbedDim> {}

fn read<Config: Small>(model: &Llama<Config, f32, Cpu>) {
    let _weight: &Tensor<(EmbedDim,), f32, Cpu> = &model.norm;
}

fn main() {}
