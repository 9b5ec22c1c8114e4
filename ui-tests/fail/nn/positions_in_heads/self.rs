//! Generic code says in heads of which size its positions exist.
//! Covers `Self` of `nn::PositionsInHeads`.
//! Right with `Known` for `PositionKind` in line 9.
use typed_transformer::{nn::*, prelude::*};

dims! { HeadDim = 8; }
trait Known: PositionsInHeads<HeadDim> {}
fn rotate<Positions: PositionsInHeads<HeadDim>>() {}
fn attends<Positions: PositionKind>() {
    rotate::<Positions>();
}

fn main() {}
