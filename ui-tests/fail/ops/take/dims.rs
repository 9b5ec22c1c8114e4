//! Taking parts of an axis keeps the other axes.
//! Covers `Dims` of `ops::take`.
//! Right with `EmbedDim` for `HiddenDim` in line 9.
use typed_transformer::{ops::take, prelude::*, tokens::Indices};

dims! { SrcLen = 5; Kept = 2; EmbedDim = 8; HiddenDim = 8; }

fn keep(x: Tensor<(SrcLen, EmbedDim), f32, Cpu>, kept: &Indices<(Kept,), SrcLen>) {
    let _kept: Tensor<(Kept, HiddenDim), f32, Cpu> = take(x, axis::<SrcLen>(), kept);
}

fn main() {}
