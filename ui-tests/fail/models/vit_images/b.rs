//! Images belong to one batch.
//! Covers `B` of `models::vit::Images`.
//! Right with `Batch` for `Other` in line 11.
use typed_transformer::{models::vit::{Images, VitConfig}, prelude::*};

dims! { Channels = 3; Height = 24; Width = 12; Patch = 6; EmbedDim = 8; Batch; Other; }

trait Small: VitConfig<Channels = Channels, Height = Height, Width = Width, EmbedDim = EmbedDim>
    + VitConfig<PatchHeight = Patch, PatchWidth = Patch> {}

fn keep<Config: Small>(images: Images<Other, Config, f32, Cpu>) {
    let _images: Tensor<(Batch, Channels, Height, Width), f32, Cpu> = images;
}

fn main() {}
