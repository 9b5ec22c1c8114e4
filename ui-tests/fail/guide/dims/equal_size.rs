//! Two dimensions of the same size are different dimensions.
//! Right with `Bottleneck` for `HeadDim` in line 8.
use typed_transformer::prelude::*;

dims! { Bottleneck = 8; HeadDim = 8; Batch; }

fn squeezed(device: &Cpu, batch: Batch) {
    let _squeezed: Tensor<(Batch, Bottleneck), f32, Cpu> = device.zeros_like(&(batch, HeadDim));
}

fn main() {}
