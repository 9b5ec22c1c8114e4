//! Sinusoidal positions are defined for even embedding widths.
//! Covers `M` of `nn::PositionsFor`.
//! Right with `EmbedDim` for `OddDim` in line 8.
use typed_transformer::{nn::{PositionsFor, Sinusoidal}, prelude::*};

dims! { EmbedDim = 8; OddDim = 15; }

fn fills<Positions: PositionsFor<OddDim>>() {}

const _: fn() = fills::<Sinusoidal>;

fn main() {}
