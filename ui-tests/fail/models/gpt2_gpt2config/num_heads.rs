//! The heads divide the width of a model among themselves.
//! Covers `NumHeads` of `models::gpt2::Gpt2Config`.
//! Right with `NumHeads` for `OtherHeads` in line 16.
use typed_transformer::{models::gpt2::Gpt2Config, prelude::*};

dims! {
    VocabSize = 28; MaxSeqLen = 16; EmbedDim = 24; NumHeads = 4; HiddenDim = 96; NumLayers = 2;
}
dims! { OtherHeads = 5; }

struct Small;
impl Gpt2Config for Small {
    type VocabSize = VocabSize;
    type MaxSeqLen = MaxSeqLen;
    type EmbedDim = EmbedDim;
    type NumHeads = OtherHeads;
    type HiddenDim = HiddenDim;
    type NumLayers = NumLayers;
    const NORM_EPSILON: f64 = 1e-5;
}

fn main() {}
