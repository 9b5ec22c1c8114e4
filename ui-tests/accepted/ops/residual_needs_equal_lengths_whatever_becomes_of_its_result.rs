//! What is added to the input of a sublayer has its length, and no annotation has to ask for it.
use typed_transformer::prelude::*;

dims! { SrcLen = 4; TgtLen = 4; EmbedDim = 8; Batch; }

fn add(
    source: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    target: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
) {
    let _sum = residual(source, target);
}

fn main() {}
