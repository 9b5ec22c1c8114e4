//! Sinusoidal positions need an even width.
//! Covers `M` of `ops::sinusoidal_positions`.
//! Right with `8` for `7` in line 6.
use typed_transformer::prelude::*;

dims! { EmbedDim = 7; SeqLen = 4; }

fn positions(device: &Cpu) -> Result<Tensor<(SeqLen, EmbedDim), f32, Cpu>, OpError> {
    sinusoidal_positions(device, SeqLen, EmbedDim)
}

fn main() {}
