//! A sum over one axis keeps the other axes.
//! Covers `Dims` of `ops::sum_over`.
//! Right with `EmbedDim` for `HiddenDim` in line 10.
//! Mutants cover `Name` by `SrcLen` of `ops::sum_over`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; EmbedDim = 8; HiddenDim = 32; Batch; }

fn sum(scores: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>) {
    let _sum: Tensor<(Batch, HiddenDim), f32, Cpu> = sum_over(scores, axis::<SrcLen>()).unwrap();
}

fn main() {}
