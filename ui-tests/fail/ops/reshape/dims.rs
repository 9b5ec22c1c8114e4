//! Reshaping drops no elements.
//! Covers `Dims` of `ops::reshape`.
//! Right with `EmbedDim` for `HiddenDim` in line 9.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; HiddenDim = 32; NumHeads = 4; HeadDim = 2; Batch; }

fn heads(
    input: Tensor<(Batch, HiddenDim), f32, Cpu>,
    batch: Batch,
) -> Tensor<(Batch, NumHeads, HeadDim), f32, Cpu> {
    reshape(input, (batch, NumHeads, HeadDim))
}

fn main() {}
