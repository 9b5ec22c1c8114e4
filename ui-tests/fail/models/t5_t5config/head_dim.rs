//! The size of a head comes from the configuration.
//! Covers `HeadDim` of `models::t5::T5Config`.
//! Right with `HeadDim` for `OtherHeadDim` in line 8.
use typed_transformer::{models::t5::{T5, T5Config}, prelude::*};

dims! { HeadDim = 6; OtherHeadDim = 6; NumHeads = 4; EmbedDim = 8; }

trait Small: T5Config<HeadDim = OtherHeadDim, NumHeads = NumHeads, EmbedDim = EmbedDim> {}

fn read<Config: Small>(model: &T5<Config, f32, Cpu>) {
    let _weight: &Tensor<(Product<NumHeads, HeadDim>, EmbedDim), f32, Cpu> = &model.encoder[0].self_attention.query;
}

fn main() {}
