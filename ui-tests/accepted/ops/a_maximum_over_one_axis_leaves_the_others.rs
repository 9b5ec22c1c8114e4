//! A maximum over one axis leaves the others.
//! Proves `Dims` of `ops::max_over`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; EmbedDim = 8; HiddenDim = 32; Batch; }

fn maximum(scores: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>) {
    let _maximum: Tensor<(Batch, EmbedDim), f32, Cpu> = max_over(scores, axis::<SrcLen>());
}

fn main() {}
