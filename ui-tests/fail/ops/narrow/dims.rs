//! Narrowing one axis keeps the other axes.
//! Covers `Dims` of `ops::narrow`.
//! Right with `EmbedDim` for `HiddenDim` in line 9.
//! Mutants cover `Len` by `SrcLen`, `Part` by `Short` of `ops::narrow`.
use typed_transformer::prelude::*;

dims! { Short = 4; SrcLen = 5; EmbedDim = 8; HiddenDim = 32; Batch; }

type Part = Tensor<(Batch, Short, HiddenDim), f32, Cpu>;

fn cut(input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>) {
    let _part: Part = narrow(input, axis::<SrcLen>(), 0, Short).unwrap();
}

fn main() {}
