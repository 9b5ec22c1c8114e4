//! The width of a model comes from its configuration.
//! Covers `EmbedDim` of `models::vit::VitConfig`.
//! Right with `EmbedDim` for `OtherEmbedDim` in line 8.
use typed_transformer::{models::vit::{Vit, VitConfig}, prelude::*};

dims! { EmbedDim = 8; OtherEmbedDim = 8; }

trait Small: VitConfig<EmbedDim = OtherEmbedDim> {}

fn read<Config: Small>(model: &Vit<Config, f32, Cpu>) {
    let _weight: &Tensor<(EmbedDim,), f32, Cpu> = &model.norm.weight;
}

fn main() {}
