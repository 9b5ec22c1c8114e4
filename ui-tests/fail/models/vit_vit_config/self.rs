//! The dimensions of a Vision Transformer come from its configuration.
//! Covers `Self` of `models::vit::VitConfig`.
//! Right with `Small` for `Other` in line 8.
use typed_transformer::{models::vit::{Vit, VitConfig}, prelude::*};

struct Other;

fn count<Small: VitConfig>(model: &Vit<Other, f32, Cpu>) {
    let _model = model;
}

fn main() {}
