//! The number of layers is known at compile time.
//! Covers `NumLayers` of `models::vit::VitConfig`.
//! Right with `NumLayers` for `Depth` in line 22.
use typed_transformer::{models::vit::VitConfig, prelude::*};

dims! {
    Channels = 3; Height = 24; Width = 36; PatchHeight = 6; PatchWidth = 6; EmbedDim = 24; NumHeads
    = 4; HiddenDim = 96; NumLayers = 2;
}
dims! { Depth; }

struct Small;
impl VitConfig for Small {
    type Channels = Channels;
    type Height = Height;
    type Width = Width;
    type PatchHeight = PatchHeight;
    type PatchWidth = PatchWidth;
    type EmbedDim = EmbedDim;
    type NumHeads = NumHeads;
    type HiddenDim = HiddenDim;
    type NumLayers = Depth;
    const NORM_EPSILON: f64 = 1e-12;
}

fn main() {}
