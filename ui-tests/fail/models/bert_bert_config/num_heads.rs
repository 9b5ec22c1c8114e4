//! The heads divide the width of a model among themselves.
//! Covers `NumHeads` of `models::bert::BertConfig`.
//! Right with `NumHeads` for `OtherHeads` in line 18.
use typed_transformer::{models::bert::BertConfig, prelude::*};

dims! {
    VocabSize = 28; TokenTypes = 2; MaxSeqLen = 16; EmbedDim = 24; NumHeads = 4; HiddenDim = 96;
    NumLayers = 2;
}
dims! { OtherHeads = 5; }

struct Small;
impl BertConfig for Small {
    type VocabSize = VocabSize;
    type TokenTypes = TokenTypes;
    type MaxSeqLen = MaxSeqLen;
    type EmbedDim = EmbedDim;
    type NumHeads = OtherHeads;
    type HiddenDim = HiddenDim;
    type NumLayers = NumLayers;
    const NORM_EPSILON: f64 = 1e-12;
}

fn main() {}
