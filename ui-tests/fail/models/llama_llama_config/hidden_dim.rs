//! The width of the gate comes from the configuration.
//! Covers `HiddenDim` of `models::llama::LlamaConfig`.
//! Right with `HiddenDim` for `OtherHiddenDim` in line 8.
use typed_transformer::{models::llama::{Llama, LlamaConfig}, prelude::*};

dims! { HiddenDim = 32; OtherHiddenDim = 32; EmbedDim = 8; }

trait Small: LlamaConfig<HiddenDim = OtherHiddenDim, EmbedDim = EmbedDim> {}

fn read<Config: Small>(model: &Llama<Config, f32, Cpu>) {
    let _weight: &Tensor<(HiddenDim, EmbedDim), f32, Cpu> = &model.layers[0].feed_forward.gate;
}

fn main() {}
