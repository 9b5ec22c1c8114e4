//! Two dimensions of one size are two dimensions.
use typed_transformer::prelude::*;

dims! { Bottleneck = 8; HeadDim = 8; Batch; }

fn squeezed(batch: Batch) -> Tensor<(Batch, Bottleneck), f32, Cpu> {
    Cpu::default().zeros_like(&(batch, Bottleneck))
}

fn main() {}
