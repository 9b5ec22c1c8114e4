//! There is a vector for each image of the batch.
//! Covers `B` of `models::clip::Clip::images`.
//! Right with `Batch` for `Texts` in line 17.
use typed_transformer::{
    models::clip::{Clip, ClipConfig},
    models::vit::VitConfig,
    prelude::*,
};

dims! { Channels = 3; Height = 24; Width = 12; Batch; Texts; }

trait Images: VitConfig<Channels = Channels, Height = Height, Width = Width> {}
trait Reader: ClipConfig + Images {}

fn vectors<Config: Reader>(
    model: &Clip<Config, f32, Cpu>,
    images: Tensor<(Texts, Channels, Height, Width), f32, Cpu>,
) {
    let _vectors = model.images::<Batch, NoneTape>(images).unwrap();
}

fn main() {}
