//! Sinusoidal positions have the requested length.
//! Covers `S` of `ops::sinusoidal_positions`.
//! Right with `SrcLen` for `TgtLen` in line 9.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; }

fn positions(device: &Cpu) -> Result<Tensor<(SrcLen, EmbedDim), f32, Cpu>, OpError> {
    sinusoidal_positions(device, TgtLen, EmbedDim)
}

fn main() {}
