//! Concatenating along one axis keeps the other axes.
//! Covers `Dims` of `ops::concat`.
//! Right with `Batch` for `Other` in line 10.
//! Mutants cover `Next` by `EmbedDim`, `One` by `PastLen`, `Other` by `PresentLen` of `ops::concat`.
//! Mutants cover `Total` by `TotalLen` of `ops::concat`.
use typed_transformer::prelude::*;

dims! { PastLen = 3; PresentLen = 2; TotalLen: Sum<PastLen, PresentLen>; EmbedDim = 8; Batch; Other; }

type Seen = Tensor<(Other, TotalLen, EmbedDim), f32, Cpu>;

fn remember(
    past: Tensor<(Batch, PastLen, EmbedDim), f32, Cpu>,
    present: Tensor<(Batch, PresentLen, EmbedDim), f32, Cpu>,
) {
    let _seen: Seen = concat(past, present, along::<PastLen, PresentLen>()).unwrap();
}

fn main() {}
