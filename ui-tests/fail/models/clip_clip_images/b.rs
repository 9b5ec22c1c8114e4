//! There is a vector for each image of the batch.
//! Covers `B` of `models::clip::Clip::images`.
//! Right with `Batch` for `Captions` in line 16.
use typed_transformer::{
    models::{clip::{Clip, ClipConfig}, vit::Images},
    prelude::*,
};

dims! { Width = 8; Batch; Captions; }

trait Reader: ClipConfig<ProjectionDim = Width> {}

fn vectors<Config: Reader>(
    model: &Clip<Config, f32, Cpu>,
    images: Images<Batch, Config>,
) -> Result<Tensor<(Captions, Width), f32, Cpu>, OpError> {
    model.images(images)
}

fn main() {}
