//! The width of a model comes from its configuration.
//! Covers `EmbedDim` of `models::bert::BertConfig`.
//! Right with `EmbedDim` for `OtherEmbedDim` in line 8.
use typed_transformer::{models::bert::{Bert, BertConfig}, prelude::*};

dims! { EmbedDim = 8; OtherEmbedDim = 8; }

trait Small: BertConfig<EmbedDim = OtherEmbedDim> {}

fn read<Config: Small>(model: &Bert<Config, f32, Cpu>) {
    let _weight: &Tensor<(EmbedDim,), f32, Cpu> = &model.embeddings.norm.weight;
}

fn main() {}
