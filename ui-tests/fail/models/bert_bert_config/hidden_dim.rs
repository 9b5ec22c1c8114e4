//! The width inside the feed-forward layer comes from the configuration.
//! Covers `HiddenDim` of `models::bert::BertConfig`.
//! Right with `HiddenDim` for `OtherHiddenDim` in line 8.
use typed_transformer::{models::bert::{Bert, BertConfig}, prelude::*};

dims! { HiddenDim = 32; OtherHiddenDim = 32; }

trait Small: BertConfig<HiddenDim = OtherHiddenDim> {}

fn read<Config: Small>(model: &Bert<Config, f32, Cpu>) {
    let _weight: &Tensor<(HiddenDim,), f32, Cpu> = &model.layers[0].feed_forward.hidden.bias;
}

fn main() {}
