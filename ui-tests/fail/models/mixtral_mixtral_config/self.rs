//! The dimensions of a Mixtral come from its configuration.
//! Covers `Self` of `models::mixtral::MixtralConfig`.
//! Right with `Small` for `Other` in line 8.
use typed_transformer::{models::mixtral::{Mixtral, MixtralConfig}, prelude::*};

struct Other;

fn count<Small: MixtralConfig>(model: &Mixtral<Other, f32, Cpu>) {
    let _model = model;
}

fn main() {}
