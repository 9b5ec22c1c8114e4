//! A row of a matrix has one column per weight.
//! Right with `EmbedDim` for `NumClasses` in line 7.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; NumClasses = 8; Batch; }

fn normalize(input: Tensor<(Batch, NumClasses), f32, Cpu>, weight: &Tensor<(EmbedDim,), f32, Cpu>) {
    let _normalized = layer_norm(input, weight, None, 1e-5);
}

fn main() {}
