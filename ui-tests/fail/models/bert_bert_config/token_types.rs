//! The types of tokens come from the configuration.
//! Covers `TokenTypes` of `models::bert::BertConfig`.
//! Right with `TokenTypes` for `OtherTypes` in line 8.
use typed_transformer::{models::bert::{Bert, BertConfig}, prelude::*};

dims! { TokenTypes = 2; OtherTypes = 2; EmbedDim = 8; }

trait Small: BertConfig<TokenTypes = OtherTypes, EmbedDim = EmbedDim> {}

fn read<Config: Small>(model: &Bert<Config, f32, Cpu>) {
    let _weight: &Tensor<(TokenTypes, EmbedDim), f32, Cpu> = &model.embeddings.token_type;
}

fn main() {}
