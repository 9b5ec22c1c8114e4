//! The grid has as many columns as there are patches in the columns of the image.
//! Covers `PatchWidth` of `ops::patches`.
//! Right with `PatchWidth` for `OtherPatchWidth` in line 15.
use typed_transformer::{ops::{PatchGrid, patches}, prelude::*};

dims! {
    Channels = 3; Height = 24; Width = 12; PatchHeight = 6; OtherPatchHeight = 6; PatchWidth = 4; OtherPatchWidth = 4;
    Batch;
}

type Numbers = Product<Channels, Product<PatchHeight, PatchWidth>>;

fn cut(
    image: Tensor<(Batch, Channels, Height, Width), f32, Cpu>,
) -> Tensor<(Batch, PatchGrid<Height, Width, PatchHeight, OtherPatchWidth>, Numbers), f32, Cpu> {
    patches(image)
}

fn main() {}
