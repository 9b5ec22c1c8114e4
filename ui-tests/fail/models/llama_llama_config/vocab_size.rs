//! The tokens of a model come from its configuration.
//! Covers `VocabSize` of `models::llama::LlamaConfig`.
//! Right with `VocabSize` for `OtherVocabSize` in line 8.
use typed_transformer::{models::llama::{Llama, LlamaConfig}, prelude::*};

dims! { VocabSize = 28; OtherVocabSize = 28; EmbedDim = 8; }

trait Small: LlamaConfig<VocabSize = OtherVocabSize, EmbedDim = EmbedDim> {}

fn read<Config: Small>(model: &Llama<Config, f32, Cpu>) {
    let _weight: &Tensor<(VocabSize, EmbedDim), f32, Cpu> = &model.token_embedder;
}

fn main() {}
