//! Rotary positions are defined for heads of even size.
//! Covers `QKDim` of `nn::PositionsInHeads`.
//! Right with `HeadDim` for `OddDim` in line 8.
use typed_transformer::{nn::{PositionsInHeads, RotaryPositions}, prelude::*};

dims! { HeadDim = 8; OddDim = 15; }

fn rotate<Positions: PositionsInHeads<OddDim>>() {}

const _: fn() = rotate::<RotaryPositions>;

fn main() {}
