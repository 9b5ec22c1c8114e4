//! The grid has as many rows as there are patches in the rows of the image.
//! Covers `PatchHeight` of `ops::patches`.
//! Right with `PatchHeight` for `OtherPatchHeight` in line 17.
//! Mutants cover `B` by `Batch`, `Channels` by `Channels`, `Height` by `Height` of `ops::patches`.
//! Mutants cover `PatchWidth` by `PatchWidth`, `Width` by `Width` of `ops::patches`.
use typed_transformer::{ops::{PatchGrid, patches}, prelude::*};

dims! {
    Channels = 3; Height = 24; Width = 12; PatchHeight = 6; OtherPatchHeight = 6; PatchWidth = 4; OtherPatchWidth = 4;
    Batch;
}

type Numbers = Product<Channels, Product<PatchHeight, PatchWidth>>;

fn cut(
    image: Tensor<(Batch, Channels, Height, Width), f32, Cpu>,
) -> Result<Tensor<(Batch, PatchGrid<Height, Width, OtherPatchHeight, PatchWidth>, Numbers), f32, Cpu>, OpError> {
    patches(image)
}

fn main() {}
