//! A residual adds embeddings of the same width.
//! Right with `EmbedDim` for `HiddenDim` in line 9.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; EmbedDim = 8; HiddenDim = 32; Batch; }

fn add(
    input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    output: Tensor<(Batch, SrcLen, HiddenDim), f32, Cpu>,
) -> Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> {
    residual(input, output)
}

fn main() {}
