//! Cutting out of one axis leaves the others.
//! Proves `Dims` of `ops::narrow`.
use typed_transformer::prelude::*;

dims! { Short = 4; SrcLen = 5; EmbedDim = 8; HiddenDim = 32; Batch; }

type Part = Tensor<(Batch, Short, EmbedDim), f32, Cpu>;

fn cut(input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>) {
    let _part: Part = narrow(input, axis::<SrcLen>(), 0, Short);
}

fn main() {}
