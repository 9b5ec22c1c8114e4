//! The vectors of texts and of images have the same element type.
//! Covers `E` of `models::clip::Clip`.
//! Right with `f32` for `f64` in line 15.
use typed_transformer::{
    models::clip::{Clip, ClipConfig},
    prelude::*,
};

dims! { Width = 8; Texts; Images; Others; }

trait Reader: ClipConfig<ProjectionDim = Width> {}

fn logits<Config: Reader>(
    model: &Clip<Config, f32, Cpu>, texts: Tensor<(Texts, Width), f32, Cpu>,
    images: Tensor<(Images, Width), f64, Cpu>,
) -> Result<Tensor<(Texts, Images), f32, Cpu>, OpError> {
    model.logits(texts, images)
}

fn main() {}
