//! Generic code says that operations run on its device.
//! Right with `Backend` for `Device` in line 7.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; Batch; }

fn half<D: Device<f32>>(x: Tensor<(Batch, EmbedDim), f32, D>) {
    let _half = scale(x, 0.5).unwrap();
}

fn main() {}
