//! Images belong to one batch.
//! Covers `B` of `models::vit::Images`.
//! Right with `Batch` for `OtherBatch` in line 8.
use typed_transformer::{models::vit::{Images, VitConfig}, prelude::*};

dims! { Batch; OtherBatch; }

fn keep<Config: VitConfig>(images: Images<OtherBatch, Config, f32, Cpu>) {
    let _images: Images<Batch, Config, f32, Cpu> = images;
}

fn main() {}
