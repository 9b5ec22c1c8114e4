//! A model keeps the batch.
//! Covers `B` of `models::vit::Vit::forward`.
//! Right with `Batch` for `Other` in line 13.
use typed_transformer::{models::vit::{Vit, VitConfig}, prelude::*};

dims! { Channels = 3; Height = 24; Width = 12; Patch = 6; EmbedDim = 8; Batch; Other; }

trait Small: VitConfig<Channels = Channels, Height = Height, Width = Width, EmbedDim = EmbedDim>
    + VitConfig<PatchHeight = Patch, PatchWidth = Patch> {}

fn states<Config: Small>(
    model: &Vit<Config, f32, Cpu>,
    images: Tensor<(Other, Channels, Height, Width), f32, Cpu>,
) {
    let _states = model.forward::<Batch, NoneTape>(images).unwrap();
}

fn main() {}
