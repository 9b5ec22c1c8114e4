//! Sinusoidal positions from a start on need an even width, too.
//! Covers `M` of `ops::sinusoidal_positions_from`.
//! Right with `8` for `7` in line 7.
//! Mutants cover `S` by `SeqLen` of `ops::sinusoidal_positions_from`.
use typed_transformer::{ops::sinusoidal_positions_from, prelude::*};

dims! { EmbedDim = 7; SeqLen = 4; OtherLen = 4; }

fn positions(device: &Cpu, start: usize) -> Result<Tensor<(SeqLen, EmbedDim), f32, Cpu>, OpError> {
    sinusoidal_positions_from(device, start, SeqLen, EmbedDim)
}

fn main() {}
