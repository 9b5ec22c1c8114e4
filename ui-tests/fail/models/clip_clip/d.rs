//! The vectors of texts and of images are on the same device.
//! Covers `D` of `models::clip::Clip`.
//! Right with `Here` for `There` in line 15.
use typed_transformer::{
    models::clip::{Clip, ClipConfig},
    prelude::*,
};

dims! { Width = 8; Texts; Images; Others; }

trait Reader: ClipConfig<ProjectionDim = Width> {}

fn logits<Config: Reader, Here: Backend<f32>, There: Backend<f32>>(
    model: &Clip<Config, f32, Here>, texts: Tensor<(Texts, Width), f32, Here>,
    images: Tensor<(Images, Width), f32, There>,
) -> Result<Tensor<(Texts, Images), f32, Here>, OpError> {
    model.logits(texts, images)
}

fn main() {}
