//! The patches come from the rows of the image.
//! Covers `Height` of `ops::patches`.
//! Right with `Height` for `OtherHeight` in line 14.
use typed_transformer::{ops::{PatchGrid, patches}, prelude::*};

dims! {
    Channels = 3; OtherChannels = 3; Height = 24; OtherHeight = 24; Width = 12; OtherWidth = 12; PatchHeight = 6;
    OtherPatchHeight = 6; PatchWidth = 4; OtherPatchWidth = 4; Batch; OtherBatch;
}

type Numbers = Product<Channels, Product<PatchHeight, PatchWidth>>;

fn cut(
    image: Tensor<(Batch, Channels, OtherHeight, Width), f32, Cpu>,
) -> Tensor<(Batch, PatchGrid<Height, Width, PatchHeight, PatchWidth>, Numbers), f32, Cpu> {
    patches(image)
}

fn main() {}
