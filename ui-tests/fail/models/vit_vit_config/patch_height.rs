//! Patches divide the rows of an image.
//! Covers `PatchHeight` of `models::vit::VitConfig`.
//! Right with `PatchHeight` for `OtherHeight` in line 17.
use typed_transformer::{models::vit::VitConfig, prelude::*};

dims! {
    Channels = 3; Height = 24; Width = 36; PatchHeight = 6; PatchWidth = 6; EmbedDim = 24; NumHeads
    = 4; HiddenDim = 96; NumLayers = 2;
}
dims! { OtherHeight = 5; }

struct Small;
impl VitConfig for Small {
    type Channels = Channels;
    type Height = Height;
    type Width = Width;
    type PatchHeight = OtherHeight;
    type PatchWidth = PatchWidth;
    type EmbedDim = EmbedDim;
    type NumHeads = NumHeads;
    type HiddenDim = HiddenDim;
    type NumLayers = NumLayers;
    const NORM_EPSILON: f64 = 1e-12;
}

fn main() {}
