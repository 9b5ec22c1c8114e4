//! The tokens of a model come from its configuration.
//! Covers `VocabSize` of `models::t5::T5Config`.
//! Right with `VocabSize` for `OtherVocabSize` in line 8.
use typed_transformer::{models::t5::{T5, T5Config}, prelude::*};

dims! { VocabSize = 28; OtherVocabSize = 28; EmbedDim = 8; }

trait Small: T5Config<VocabSize = OtherVocabSize, EmbedDim = EmbedDim> {}

fn read<Config: Small>(model: &T5<Config, f32, Cpu>) {
    let _weight: &Tensor<(VocabSize, EmbedDim), f32, Cpu> = &model.token_embedder;
}

fn main() {}
