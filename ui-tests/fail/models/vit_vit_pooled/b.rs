//! There is a vector for each image of the batch.
//! Covers `B` of `models::vit::Vit::pooled`.
//! Right with `Batch` for `OtherBatch` in line 14.
use typed_transformer::{models::vit::{ClassAndPatches, Vit, VitConfig}, prelude::*};

dims! { Channels = 3; Height = 24; Width = 12; Patch = 6; EmbedDim = 8; Batch; OtherBatch; }

trait Small: VitConfig<Channels = Channels, Height = Height, Width = Width, EmbedDim = EmbedDim>
    + VitConfig<PatchHeight = Patch, PatchWidth = Patch> {}

fn pooled<Config: Small>(
    model: &Vit<Config, f32, Cpu>,
    states: Tensor<(Batch, ClassAndPatches<Config>, EmbedDim), f32, Cpu>,
) -> Result<Tensor<(OtherBatch, EmbedDim), f32, Cpu>, OpError> {
    model.pooled(states)
}

fn main() {}
