//! Operands have one dtype.
//! Right with `f32` for `f64` in line 7.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; Batch; }

fn sum(x: Tensor<(Batch, EmbedDim), f32, Cpu>, positions: Tensor<(Batch, EmbedDim), f64, Cpu>) {
    let _sum = add(x, positions);
}

fn main() {}
