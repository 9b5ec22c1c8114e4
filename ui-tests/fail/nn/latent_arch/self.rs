//! The dimensions of a latent attention come from an architecture.
//! Covers `Self` of `nn::LatentArch`.
//! Right with `Small` for `Other` in line 11.
use typed_transformer::{
    nn::{LatentArch, LatentAttention},
    prelude::*,
};

struct Other;

fn count<Small: LatentArch>(layer: &LatentAttention<Other, f32, Cpu>) {
    let _layer = layer;
}

fn main() {}
