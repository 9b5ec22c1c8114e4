//! A loss compares the texts and the images of the same pairs.
//! Covers `B` of `models::clip::Clip::loss`.
//! Right with `Pairs` for `Images` in line 16.
use typed_transformer::{
    models::clip::{Clip, ClipConfig},
    prelude::*,
};

dims! { Width = 8; Pairs; Images; }

trait Reader: ClipConfig<ProjectionDim = Width> {}

fn loss<Config: Reader>(
    model: &Clip<Config, f32, Cpu>,
    texts: Tensor<(Pairs, Width), f32, Cpu>,
    images: Tensor<(Images, Width), f32, Cpu>,
) {
    let _loss = model.loss(texts, images).unwrap();
}

fn main() {}
