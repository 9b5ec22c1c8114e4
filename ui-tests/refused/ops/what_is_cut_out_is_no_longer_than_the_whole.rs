//! What is cut out is no longer than the whole.
//! Proves `Part` of `ops::narrow`.
use typed_transformer::prelude::*;

dims! { Short = 4; SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; }

fn cut(input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>) {
    let _part = narrow(input, axis::<SrcLen>(), 0, TgtLen);
}

fn main() {}
