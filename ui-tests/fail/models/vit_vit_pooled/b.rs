//! There is a vector for each image of the batch.
//! Covers `B` of `models::vit::Vit::pooled`.
//! Right with `Batch` for `OtherBatch` in line 10.
use typed_transformer::{models::vit::{ClassAndPatches, Vit, VitConfig}, prelude::*};

dims! { Batch; OtherBatch; }

fn pooled<Config: VitConfig>(
    model: &Vit<Config, f32, Cpu>,
    states: Tensor<(OtherBatch, ClassAndPatches<Config>, Config::EmbedDim), f32, Cpu>,
) -> Tensor<(Batch, Config::EmbedDim), f32, Cpu> {
    model.pooled(states)
}

fn main() {}
