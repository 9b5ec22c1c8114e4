//! There are as many sinusoids as were asked for.
//! Proves `S` of `ops::sinusoidal_positions`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; }

fn positions(device: &Cpu) -> Tensor<(SrcLen, EmbedDim), f32, Cpu> {
    sinusoidal_positions(device, SrcLen, EmbedDim)
}

fn main() {}
