//! Sinusoids fill no embedding of odd width.
//! Proves `M` of `nn::PositionsOf`.
use typed_transformer::{nn::{PositionsOf, Sinusoidal}, prelude::*};

dims! { EmbedDim = 8; OddDim = 15; }

fn fills<Positions: PositionsOf<OddDim>>() {}

const _: fn() = fills::<Sinusoidal>;

fn main() {}
