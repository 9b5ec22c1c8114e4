//! Generic code says for which width its positions exist.
//! Covers `Self` of `nn::PositionsFor`.
//! Right with `Known` for `PositionKind` in line 9.
use typed_transformer::{nn::*, prelude::*};

dims! { EmbedDim = 8; }
trait Known: PositionsFor<EmbedDim> {}
fn fills<Positions: PositionsFor<EmbedDim>>() {}
fn embeds<Positions: PositionKind>() {
    fills::<Positions>();
}

fn main() {}
