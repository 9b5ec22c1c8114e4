//! A model keeps the batch.
//! Covers `B` of `models::vit::Vit::forward`.
//! Right with `Batch` for `OtherBatch` in line 10.
use typed_transformer::{models::vit::{ClassAndPatches, Images, Vit, VitConfig}, prelude::*};

dims! { Batch; OtherBatch; }

fn states<Config: VitConfig>(
    model: &Vit<Config, f32, Cpu>,
    images: Images<OtherBatch, Config, f32, Cpu>,
) -> Tensor<(Batch, ClassAndPatches<Config>, Config::EmbedDim), f32, Cpu> {
    model.forward(images)
}

fn main() {}
