//! The width inside the feed-forward layer comes from the configuration.
//! Covers `HiddenDim` of `models::gpt2::Gpt2Config`.
//! Right with `HiddenDim` for `OtherHiddenDim` in line 8.
use typed_transformer::{models::gpt2::{Gpt2, Gpt2Config}, prelude::*};

dims! { HiddenDim = 32; OtherHiddenDim = 32; }

trait Small: Gpt2Config<HiddenDim = OtherHiddenDim> {}

fn read<Config: Small>(model: &Gpt2<Config, f32, Cpu>) {
    let _weight: &Tensor<(HiddenDim,), f32, Cpu> = &model.layers[0].feed_forward.hidden.bias;
}

fn main() {}
