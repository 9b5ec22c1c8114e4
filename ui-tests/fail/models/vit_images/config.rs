//! Images have the size of their model.
//! Covers `Config` of `models::vit::Images`.
//! Right with `One` for the second `Other` in line 11.
use typed_transformer::{models::vit::{Images, VitConfig}, prelude::*};

dims! { Channels = 3; Height = 24; OtherHeight = 24; Width = 12; Patch = 6; Batch; }

trait Small: VitConfig<Channels = Channels, Height = Height, Width = Width, PatchHeight = Patch, PatchWidth = Patch> {}
trait Large: VitConfig<Channels = Channels, Height = OtherHeight, Width = Width, PatchHeight = Patch, PatchWidth = Patch> {}

fn keep<One: Small, Other: Large>(images: Images<Batch, Other, f32, Cpu>) {
    let _images: Images<Batch, One, f32, Cpu> = images;
}

fn main() {}
