//! Splitting one axis keeps the other axes.
//! Covers `Dims` of `ops::split`.
//! Right with `EmbedDim` for `HiddenDim` in line 10.
//! Mutants cover `One` by `PastLen`, `Other` by `PresentLen`, `Total` by `TotalLen` of `ops::split`.
use typed_transformer::prelude::*;

dims! { PastLen = 3; PresentLen = 2; TotalLen: Sum<PastLen, PresentLen>; EmbedDim = 8; HiddenDim = 32; Batch; }

type Past = Tensor<(Batch, PastLen, EmbedDim), f32, Cpu>;
type Present = Tensor<(Batch, PresentLen, HiddenDim), f32, Cpu>;

fn recall(seen: Tensor<(Batch, TotalLen, EmbedDim), f32, Cpu>) {
    let _parts: (Past, Present) = split(seen, PastLen, PresentLen, axis::<TotalLen>()).unwrap();
}

fn main() {}
