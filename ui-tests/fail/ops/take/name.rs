//! The indices are those of the axis that they read.
//! Covers `Name` of `ops::take`.
//! Right with `SrcLen` for `TgtLen` in line 11.
//! Mutants cover `Dims` by `EmbedDim`, `K` by `Kept` of `ops::take`.
use typed_transformer::{ops::take, prelude::*, tokens::Indices};

dims! { SrcLen = 5; TgtLen = 5; Kept = 2; EmbedDim = 8; }

fn keep(
    x: Tensor<(SrcLen, EmbedDim), f32, Cpu>,
    kept: &Indices<(Kept,), TgtLen>,
) -> Result<Tensor<(Kept, EmbedDim), f32, Cpu>, OpError> {
    take(x, axis::<SrcLen>(), kept)
}

fn main() {}
