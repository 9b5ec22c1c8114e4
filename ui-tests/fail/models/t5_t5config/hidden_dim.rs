//! The width inside the feed-forward layer comes from the configuration.
//! Covers `HiddenDim` of `models::t5::T5Config`.
//! Right with `HiddenDim` for `OtherHiddenDim` in line 8.
use typed_transformer::{models::t5::{T5, T5Config}, prelude::*};

dims! { HiddenDim = 32; OtherHiddenDim = 32; EmbedDim = 8; }

trait Small: T5Config<HiddenDim = OtherHiddenDim, EmbedDim = EmbedDim> {}

fn read<Config: Small>(model: &T5<Config, f32, Cpu>) {
    let _weight: &Tensor<(HiddenDim, EmbedDim), f32, Cpu> = &model.encoder[0].feed_forward.hidden;
}

fn main() {}
