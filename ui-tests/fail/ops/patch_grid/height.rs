//! The number of patches comes from the sizes of the image and of a patch.
//! Covers `Height` of `ops::PatchGrid`.
//! Right with `Height` for `OtherHeight` in line 13.
//! Mutants cover `PatchHeight` by `PatchHeight`, `PatchWidth` by `PatchWidth` of `ops::PatchGrid`.
//! Mutants cover `Width` by `Width` of `ops::PatchGrid`.
use typed_transformer::{ops::PatchGrid, prelude::*};

dims! {
    Height = 24; OtherHeight = 24; Width = 12; OtherWidth = 12; PatchHeight = 6; OtherPatchHeight = 6; PatchWidth = 4;
    OtherPatchWidth = 4;
}

fn keep(patches: PatchGrid<OtherHeight, Width, PatchHeight, PatchWidth>) {
    let _patches: PatchGrid<Height, Width, PatchHeight, PatchWidth> = patches;
}

fn main() {}
