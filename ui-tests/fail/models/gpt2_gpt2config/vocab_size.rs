//! The tokens of a model come from its configuration.
//! Covers `VocabSize` of `models::gpt2::Gpt2Config`.
//! Right with `VocabSize` for `OtherVocabSize` in line 8.
use typed_transformer::{models::gpt2::{Gpt2, Gpt2Config}, prelude::*};

dims! { VocabSize = 28; OtherVocabSize = 28; EmbedDim = 8; }

trait Small: Gpt2Config<VocabSize = OtherVocabSize, EmbedDim = EmbedDim> {}

fn read<Config: Small>(model: &Gpt2<Config, f32, Cpu>) {
    let _weight: &Tensor<(VocabSize, EmbedDim), f32, Cpu> = &model.token_embedder;
}

fn main() {}
