//! A residual compares lengths without a type annotation on the result.
//! Right with `SrcLen` for `TgtLen` in line 9.
use typed_transformer::prelude::*;

dims! { SrcLen = 4; TgtLen = 4; EmbedDim = 8; Batch; }

fn add(
    source: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    target: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>,
) {
    let _sum = residual(source, target);
}

fn main() {}
