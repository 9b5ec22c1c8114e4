//! Reshaping adds no elements.
//! Covers `To` of `ops::reshape`.
//! Right with `HeadDim` for `QKDim` in line 9.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; NumHeads = 4; HeadDim = 2; QKDim = 10; Batch; }

fn heads(input: Tensor<(Batch, EmbedDim), f32, Cpu>, batch: Batch) {
    let _heads = reshape(input, (batch, NumHeads, QKDim));
}

fn main() {}
