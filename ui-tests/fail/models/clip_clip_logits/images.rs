//! Logits have a row for each text and a column for each image.
//! Covers `Images` of `models::clip::Clip::logits`.
//! Right with `Images` for the second `Texts` in line 17.
//! Mutants cover `Texts` by `Texts` of `models::clip::Clip::logits`.
use typed_transformer::{
    models::clip::{Clip, ClipConfig},
    prelude::*,
};

dims! { Width = 8; Texts; Images; Others; }

trait Reader: ClipConfig<ProjectionDim = Width> {}

fn logits<Config: Reader>(
    model: &Clip<Config, f32, Cpu>, texts: Tensor<(Texts, Width), f32, Cpu>,
    images: Tensor<(Images, Width), f32, Cpu>,
) -> Result<Tensor<(Texts, Texts), f32, Cpu>, OpError> {
    model.logits(texts, images)
}

fn main() {}
