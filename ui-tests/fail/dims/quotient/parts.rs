//! The number of heads divides the embedding.
//! Covers `Parts` of `dims::Quotient`.
//! Right with `4` for `3` in line 6.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; NumHeads = 3; HiddenDim = 32; }

struct Model;

impl Arch for Model {
    type NumHeads = NumHeads;
    type QKDim = Quotient<EmbedDim, NumHeads>;
    type VODim = NumHeads;
    type HiddenDim = HiddenDim;
    type Conventions = TypedTransformer;
}

fn main() {}
