//! Rotary positions need heads of even size.
//! Right with `HeadDim` for `OddDim` in line 21.
use typed_transformer::{nn::{Conventions, RotaryPositions}, ops::Silu, prelude::*};

dims! {
    NumHeads = 4;
    HeadDim = 6;
    HiddenDim = 32;
}
dims! { OddDim = 5; }

struct Turned;
impl Conventions for Turned {
    type Activation = Silu;
    type Positions = RotaryPositions;
    type PaddingRule = PadQueriesAndKeys;
}
struct Model;
impl Arch for Model {
    type NumHeads = NumHeads;
    type QKDim = OddDim;
    type VODim = HeadDim;
    type HiddenDim = HiddenDim;
    type Conventions = Turned;
}

fn main() {}
