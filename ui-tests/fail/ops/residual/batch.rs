//! A residual adds tensors of the same batch.
//! Right with `Batch` for `OtherBatch` in line 9.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; EmbedDim = 8; Batch; OtherBatch; }

fn add(
    input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    output: Tensor<(OtherBatch, SrcLen, EmbedDim), f32, Cpu>,
) -> Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> {
    residual(input, output)
}

fn main() {}
