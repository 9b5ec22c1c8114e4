//! The tokens of a model come from its configuration.
//! Covers `VocabSize` of `models::bert::BertConfig`.
//! Right with `VocabSize` for `OtherVocabSize` in line 8.
use typed_transformer::{models::bert::{Bert, BertConfig}, prelude::*};

dims! { VocabSize = 28; OtherVocabSize = 28; EmbedDim = 8; }

trait Small: BertConfig<VocabSize = OtherVocabSize, EmbedDim = EmbedDim> {}

fn read<Config: Small>(model: &Bert<Config, f32, Cpu>) {
    let _weight: &Tensor<(VocabSize, EmbedDim), f32, Cpu> = &model.embeddings.token;
}

fn main() {}
