//! The width inside the feed-forward layer comes from the configuration.
//! Covers `HiddenDim` of `models::vit::VitConfig`.
//! Right with `HiddenDim` for `OtherHiddenDim` in line 8.
use typed_transformer::{models::vit::{Vit, VitConfig}, prelude::*};

dims! { HiddenDim = 32; OtherHiddenDim = 32; }

trait Small: VitConfig<HiddenDim = OtherHiddenDim> {}

fn read<Config: Small>(model: &Vit<Config, f32, Cpu>) {
    let _weight: &Tensor<(HiddenDim,), f32, Cpu> = &model.layers[0].feed_forward.hidden.bias;
}

fn main() {}
