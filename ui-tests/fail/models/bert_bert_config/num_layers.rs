//! The number of layers is known at compile time.
//! Covers `NumLayers` of `models::bert::BertConfig`.
//! Right with `NumLayers` for `Depth` in line 20.
use typed_transformer::{models::bert::BertConfig, prelude::*};

dims! {
    VocabSize = 28; TokenTypes = 2; MaxSeqLen = 16; EmbedDim = 24; NumHeads = 4; HiddenDim = 96;
    NumLayers = 2;
}
dims! { Depth; }

struct Small;
impl BertConfig for Small {
    type VocabSize = VocabSize;
    type TokenTypes = TokenTypes;
    type MaxSeqLen = MaxSeqLen;
    type EmbedDim = EmbedDim;
    type NumHeads = NumHeads;
    type HiddenDim = HiddenDim;
    type NumLayers = Depth;
    const NORM_EPSILON: f64 = 1e-12;
}

fn main() {}
