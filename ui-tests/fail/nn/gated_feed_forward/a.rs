//! A layer belongs to one architecture.
//! Covers `A` of `nn::GatedFeedForward`.
//! Right with `Model` for `Other` in line 17.
use typed_transformer::{doctest::Model, nn::GatedFeedForward, prelude::*};

dims! { EmbedDim = 8; NumHeads = 2; HeadDim = 4; HiddenDim = 16; }

struct Other;
impl Arch for Other {
    type NumHeads = NumHeads;
    type QKDim = HeadDim;
    type VODim = HeadDim;
    type HiddenDim = HiddenDim;
    type Conventions = TypedTransformer;
}

fn layer(layer: &GatedFeedForward<EmbedDim, Other, f32, Cpu>) {
    let _layer: &GatedFeedForward<EmbedDim, Model, f32, Cpu> = layer;
}

fn main() {}
