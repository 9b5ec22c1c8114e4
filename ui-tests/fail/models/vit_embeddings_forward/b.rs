//! Embeddings keep the batch of the images.
//! Covers `B` of `models::vit::Embeddings::forward`.
//! Right with `Batch` for `Other` in line 13.
use typed_transformer::{models::vit::{Embeddings, VitConfig}, prelude::*};

dims! { Channels = 3; Height = 24; Width = 12; Patch = 6; EmbedDim = 8; Batch; Other; }

trait Small: VitConfig<Channels = Channels, Height = Height, Width = Width, EmbedDim = EmbedDim>
    + VitConfig<PatchHeight = Patch, PatchWidth = Patch> {}

fn embed<Config: Small>(
    embeddings: &Embeddings<Config, f32, Cpu>,
    images: Tensor<(Other, Channels, Height, Width), f32, Cpu>,
) {
    let _embedded = embeddings.forward::<Batch, NoneTape>(images).unwrap();
}

fn main() {}
