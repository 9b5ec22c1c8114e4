//! The longest sequence of a model comes from its configuration.
//! Covers `MaxSeqLen` of `models::gpt2::Gpt2Config`.
//! Right with `MaxSeqLen` for `OtherMaxSeqLen` in line 8.
use typed_transformer::{models::gpt2::{Gpt2, Gpt2Config}, prelude::*};

dims! { MaxSeqLen = 16; OtherMaxSeqLen = 16; EmbedDim = 8; }

trait Small: Gpt2Config<MaxSeqLen = OtherMaxSeqLen, EmbedDim = EmbedDim> {}

fn read<Config: Small>(model: &Gpt2<Config, f32, Cpu>) {
    let _weight: &Tensor<(MaxSeqLen, EmbedDim), f32, Cpu> = &model.position_embedder;
}

fn main() {}
