//! An architecture with sinusoids has no embedding of odd width.
//! Proves `EmbedDim` of `nn::Embeds`.
use typed_transformer::{models::another_annotated::Annotated, nn::Embeds, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 32; OddDim = 15; NumHeads = 4; QKDim = 10; VODim = 11; }

struct Small;

impl Arch for Small {
    type NumHeads = NumHeads;
    type QKDim = QKDim;
    type VODim = VODim;
    type HiddenDim = HiddenDim;
    type Style = Annotated;
}

fn embeds<A: Embeds<EmbedDim>>() {}

const _: fn() = embeds::<Small>;

fn main() {}
