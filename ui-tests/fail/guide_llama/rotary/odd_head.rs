//! Rotary positions rotate the columns of a head in pairs.
//! Right with `8` for `7` in line 5.
use typed_transformer::{ops::{Rotary, rotary_positions}, prelude::*};

dims! { NumHeads = 8; QKDim = 7; }

fn rotated<B: Dim, S: Dim>(
    heads: Tensor<(B, NumHeads, S, QKDim), f32, Cpu>,
) -> Result<Tensor<(B, NumHeads, S, QKDim), f32, Cpu>, OpError> {
    rotary_positions(heads, axis::<S>(), 0, Rotary::default())
}

fn main() {}
