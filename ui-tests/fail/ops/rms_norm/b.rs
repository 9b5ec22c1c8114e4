//! RMS normalization keeps the batch.
//! Covers `B` of `ops::rms_norm`.
//! Right with `Batch` for `OtherBatch` in line 9.
use typed_transformer::{ops::rms_norm, prelude::*};

dims! { SrcLen = 5; EmbedDim = 8; Batch; OtherBatch; }

fn normalize(
    input: Tensor<(OtherBatch, SrcLen, EmbedDim), f32, Cpu>,
    weight: &Tensor<(EmbedDim,), f32, Cpu>,
) -> Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> {
    rms_norm(input, weight, 1e-5)
}

fn main() {}
