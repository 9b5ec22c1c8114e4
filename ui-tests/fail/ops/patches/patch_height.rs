//! Patches divide the rows of an image.
//! Covers `PatchHeight` of `ops::patches`.
//! Right with `PatchHeight` for `Odd` in line 9.
use typed_transformer::{ops::patches, prelude::*};

dims! { Channels = 3; Height = 24; Width = 12; PatchHeight = 6; PatchWidth = 4; Odd = 5; Batch; }

fn cut(image: Tensor<(Batch, Channels, Height, Width), f32, Cpu>) {
    let _patches = patches::<Batch, Channels, Height, Width, Odd, PatchWidth, _, _, _>(image);
}

fn main() {}
