//! Patches divide the columns of an image.
//! Covers `PatchWidth` of `ops::patches`.
//! Right with `PatchWidth` for `Odd` in line 9.
use typed_transformer::{ops::patches, prelude::*};

dims! { Channels = 3; Height = 24; Width = 12; PatchHeight = 6; PatchWidth = 4; Odd = 5; Batch; }

fn cut(image: Tensor<(Batch, Channels, Height, Width), f32, Cpu>) {
    let _patches = patches::<Batch, Channels, Height, Width, PatchHeight, Odd, _, _, _>(image);
}

fn main() {}
