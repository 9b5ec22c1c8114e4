//! The result has as many parts as there are indices.
//! Covers `K` of `ops::take`.
//! Right with `Kept` for `Dropped` in line 9.
use typed_transformer::{ops::take, prelude::*, tokens::Indices};

dims! { SrcLen = 5; Kept = 2; Dropped = 2; EmbedDim = 8; }

fn keep(x: Tensor<(SrcLen, EmbedDim), f32, Cpu>, kept: &Indices<(Kept,), SrcLen>) {
    let _kept: Tensor<(Dropped, EmbedDim), f32, Cpu> = take(x, axis::<SrcLen>(), kept);
}

fn main() {}
