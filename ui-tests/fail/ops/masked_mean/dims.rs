//! The masked mean keeps the embedding width.
//! Covers `Dims` of `ops::masked_mean`.
//! Right with `EmbedDim` for `HiddenDim` in line 13.
//! Mutants cover `Positions` by `Batch` of `ops::masked_mean`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; EmbedDim = 8; HiddenDim = 32; Batch; }

fn pool(
    encoded: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    padding: &PaddingMask<Batch, SrcLen>,
) {
    let _pooled: Tensor<(Batch, HiddenDim), f32, Cpu> = masked_mean(encoded, padding).unwrap();
}

fn main() {}
