//! Sines and cosines come in pairs.
//! Proves `M` of `ops::sinusoidal_positions`.
use typed_transformer::prelude::*;

dims! { EmbedDim = 7; SeqLen = 4; }

fn positions(device: &Cpu) -> Tensor<(SeqLen, EmbedDim), f32, Cpu> {
    sinusoidal_positions(device, SeqLen, EmbedDim)
}

fn main() {}
