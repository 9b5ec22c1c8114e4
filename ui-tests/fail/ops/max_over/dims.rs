//! A maximum over one axis keeps the other axes.
//! Covers `Dims` of `ops::max_over`.
//! Right with `EmbedDim` for `HiddenDim` in line 10.
//! Mutants cover `Name` by `SrcLen` of `ops::max_over`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; EmbedDim = 8; HiddenDim = 32; Batch; }

fn maximum(scores: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>) {
    let _maximum: Tensor<(Batch, HiddenDim), f32, Cpu> = max_over(scores, axis::<SrcLen>()).unwrap();
}

fn main() {}
