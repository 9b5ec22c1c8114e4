//! Two dimensions of one size are two dimensions.
use typed_transformer::prelude::*;

dims! { Bottleneck = 8; HeadDim = 8; Batch; }

fn squeezed(device: &Cpu, batch: Batch) {
    let _squeezed: Tensor<(Batch, Bottleneck), f32, Cpu> = device.zeros_like(&(batch, Bottleneck));
}

fn main() {}
