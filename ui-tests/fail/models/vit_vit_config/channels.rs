//! The number of channels is known at compile time.
//! Covers `Channels` of `models::vit::VitConfig`.
//! Right with `Channels` for `Colours` in line 14.
use typed_transformer::{models::vit::VitConfig, prelude::*};

dims! {
    Channels = 3; Height = 24; Width = 36; PatchHeight = 6; PatchWidth = 6; EmbedDim = 24; NumHeads
    = 4; HiddenDim = 96; NumLayers = 2;
}
dims! { Colours; }

struct Small;
impl VitConfig for Small {
    type Channels = Colours;
    type Height = Height;
    type Width = Width;
    type PatchHeight = PatchHeight;
    type PatchWidth = PatchWidth;
    type EmbedDim = EmbedDim;
    type NumHeads = NumHeads;
    type HiddenDim = HiddenDim;
    type NumLayers = NumLayers;
    const NORM_EPSILON: f64 = 1e-12;
}

fn main() {}
