//! Sinusoids fill no embedding of odd width.
//! Proves `M` of `nn::PositionsFor`.
use typed_transformer::{nn::{PositionsFor, Sinusoidal}, prelude::*};

dims! { EmbedDim = 8; OddDim = 15; }

fn fills<Positions: PositionsFor<EmbedDim>>() {}

const _: fn() = fills::<Sinusoidal>;

fn main() {}
