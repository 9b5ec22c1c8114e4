//! An axis of the result has a name of its own.
//! Right with `QLen` for the third `Batch` in line 8.
use typed_transformer::prelude::*;

dims! { QLen = 3; EmbedDim = 8; Batch; }

fn sums(x: Tensor<(Batch, QLen, EmbedDim), f32, Cpu>) {
    let _sums = einsum!(x: (Batch, QLen, EmbedDim) -> (Batch, Batch)).unwrap();
}

fn main() {}
