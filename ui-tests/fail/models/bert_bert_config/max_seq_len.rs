//! The longest sequence of a model comes from its configuration.
//! Covers `MaxSeqLen` of `models::bert::BertConfig`.
//! Right with `MaxSeqLen` for `OtherMaxSeqLen` in line 8.
use typed_transformer::{models::bert::{Bert, BertConfig}, prelude::*};

dims! { MaxSeqLen = 16; OtherMaxSeqLen = 16; EmbedDim = 8; }

trait Small: BertConfig<MaxSeqLen = OtherMaxSeqLen, EmbedDim = EmbedDim> {}

fn read<Config: Small>(model: &Bert<Config, f32, Cpu>) {
    let _weight: &Tensor<(MaxSeqLen, EmbedDim), f32, Cpu> = &model.embeddings.position;
}

fn main() {}
