//! The vectors of texts and of images have the same kind of tape.
//! Covers `T` of `models::clip::Clip::logits`.
//! Right with `Recorded` for `NoneTape` in line 17.
use typed_transformer::{
    models::clip::{Clip, ClipConfig},
    prelude::*,
};

dims! { Width = 8; Texts; Images; Others; }

trait Reader: ClipConfig<ProjectionDim = Width> {}

type Recorded = typed_transformer::train::Recording<(), f32, Cpu>;

fn logits<Config: Reader>(
    model: &Clip<Config, f32, Cpu>, texts: Tensor<(Texts, Width), f32, Cpu, Recorded>,
    images: Tensor<(Images, Width), f32, Cpu, NoneTape>,
) -> Result<Tensor<(Texts, Images), f32, Cpu, Recorded>, OpError> {
    model.logits(texts, images)
}

fn main() {}
