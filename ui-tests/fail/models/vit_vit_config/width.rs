//! Patches divide the columns of an image.
//! Covers `Width` of `models::vit::VitConfig`.
//! Right with `Width` for `Columns` in line 16.
use typed_transformer::{models::vit::VitConfig, prelude::*};

dims! {
    Channels = 3; Height = 24; Width = 36; PatchHeight = 6; PatchWidth = 6; EmbedDim = 24; NumHeads
    = 4; HiddenDim = 96; NumLayers = 2;
}
dims! { Columns = 25; }

struct Small;
impl VitConfig for Small {
    type Channels = Channels;
    type Height = Height;
    type Width = Columns;
    type PatchHeight = PatchHeight;
    type PatchWidth = PatchWidth;
    type EmbedDim = EmbedDim;
    type NumHeads = NumHeads;
    type HiddenDim = HiddenDim;
    type NumLayers = NumLayers;
    const NORM_EPSILON: f64 = 1e-12;
}

fn main() {}
