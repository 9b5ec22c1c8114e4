//! An embedding is shared out only among heads that divide it.
//! Proves `Parts` of `dims::Quotient`.
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
