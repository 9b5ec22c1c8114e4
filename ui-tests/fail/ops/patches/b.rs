//! Patches keep the batch.
//! Covers `B` of `ops::patches`.
//! Right with `Batch` for `Other` in line 8.
use typed_transformer::{ops::patches, prelude::*};

dims! { Channels = 3; Height = 24; Width = 12; PatchHeight = 6; PatchWidth = 4; Batch; Other; }

fn cut(image: Tensor<(Other, Channels, Height, Width), f32, Cpu>) {
    let _patches = patches::<Batch, _, _, _, PatchHeight, PatchWidth, _, _, _>(image);
}

fn main() {}
