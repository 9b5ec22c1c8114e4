//! The number of patches comes from the size of the image.
//! Covers `Config` of `models::vit::ClassAndPatches`.
//! Right with `One` for the second `Other` in line 11.
use typed_transformer::{models::vit::{ClassAndPatches, VitConfig}, prelude::*};

dims! { Channels = 3; Height = 24; OtherHeight = 24; Width = 12; Patch = 6; Batch; }

trait Small: VitConfig<Channels = Channels, Height = Height, Width = Width, PatchHeight = Patch, PatchWidth = Patch> {}
trait Large: VitConfig<Channels = Channels, Height = OtherHeight, Width = Width, PatchHeight = Patch, PatchWidth = Patch> {}

fn keep<One: Small, Other: Large>(patches: ClassAndPatches<Other>) {
    let _patches: ClassAndPatches<One> = patches;
}

fn main() {}
