//! A mean over one axis keeps the other axes.
//! Covers `Dims` of `ops::mean_over`.
//! Right with `EmbedDim` for `HiddenDim` in line 10.
//! Mutants cover `Name` by `SrcLen` of `ops::mean_over`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; EmbedDim = 8; HiddenDim = 32; Batch; }

fn mean(scores: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>) {
    let _mean: Tensor<(Batch, HiddenDim), f32, Cpu> = mean_over(scores, axis::<SrcLen>()).unwrap();
}

fn main() {}
