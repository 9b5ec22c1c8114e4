//! RMS normalization has one weight per column.
//! Covers `M` of `ops::rms_norm`.
//! Right with `EmbedDim` for `HiddenDim` in line 10.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; HiddenDim = 8; SeqLen; Batch; }

fn normalize(
    input: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>,
    weight: &Tensor<(HiddenDim,), f32, Cpu>,
) -> Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> {
    rms_norm(input, weight, 1e-6)
}

fn main() {}
