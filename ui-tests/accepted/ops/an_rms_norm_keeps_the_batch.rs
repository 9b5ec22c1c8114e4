//! An RMS norm keeps the batch.
//! Proves `B` of `ops::rms_norm`.
use typed_transformer::{ops::rms_norm, prelude::*};

dims! { SrcLen = 5; EmbedDim = 8; Batch; OtherBatch; }

fn normalize(
    input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    weight: &Tensor<(EmbedDim,), f32, Cpu>,
) -> Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> {
    rms_norm(input, weight, 1e-5)
}

fn main() {}
