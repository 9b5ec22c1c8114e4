//! An architecture with sinusoids has no embedding of odd width.
//! Proves `EmbedDim` of `nn::HasPositionsFor`.
use typed_transformer::{models::another_annotated::Annotated, nn::HasPositionsFor, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 32; OddDim = 15; NumHeads = 4; QKDim = 10; VODim = 11; }

struct Small;

impl Arch for Small {
    type NumHeads = NumHeads;
    type QKDim = QKDim;
    type VODim = VODim;
    type HiddenDim = HiddenDim;
    type Conventions = Annotated;
}

fn embeds<A: HasPositionsFor<OddDim>>() {}

const _: fn() = embeds::<Small>;

fn main() {}
