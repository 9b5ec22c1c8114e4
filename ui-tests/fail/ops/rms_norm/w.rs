//! A weight that was computed on a tape goes with an input that has one.
//! Covers `W` of `ops::rms_norm`.
//! Right with `NoneTape` for `Pass` in line 11.
use typed_transformer::{ops::rms_norm, prelude::*, train::Recording};

dims! { SeqLen = 5; EmbedDim = 8; }
type Pass = Recording<(), f32, Cpu>;

fn normalize(
    input: Tensor<(SeqLen, EmbedDim), f32, Cpu>,
    weight: &Tensor<(EmbedDim,), f32, Cpu, Pass>,
) -> Result<Tensor<(SeqLen, EmbedDim), f32, Cpu>, OpError> {
    rms_norm(input, weight, 1e-5)
}

fn main() {}
