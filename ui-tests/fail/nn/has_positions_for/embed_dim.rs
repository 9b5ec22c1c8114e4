//! Sinusoidal positions need an even embedding width.
//! Covers `EmbedDim` of `nn::HasPositionsFor`.
//! Right with `EmbedDim` for `OddDim` in line 18.
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
