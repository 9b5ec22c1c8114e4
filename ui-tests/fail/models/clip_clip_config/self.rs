//! The dimensions of a CLIP come from its configuration.
//! Covers `Self` of `models::clip::ClipConfig`.
//! Right with `Small` for `Other` in line 11.
use typed_transformer::{
    models::clip::{Clip, ClipConfig},
    prelude::*,
};

struct Other;

fn count<Small: ClipConfig>(model: &Clip<Other, f32, Cpu>) {
    let _model = model;
}

fn main() {}
