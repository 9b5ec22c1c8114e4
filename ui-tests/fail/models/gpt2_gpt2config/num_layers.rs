//! The number of layers is known at compile time.
//! Covers `NumLayers` of `models::gpt2::Gpt2Config`.
//! Right with `NumLayers` for `Depth` in line 18.
use typed_transformer::{models::gpt2::Gpt2Config, prelude::*};

dims! {
    VocabSize = 28; MaxSeqLen = 16; EmbedDim = 24; NumHeads = 4; HiddenDim = 96; NumLayers = 2;
}
dims! { Depth; }

struct Small;
impl Gpt2Config for Small {
    type VocabSize = VocabSize;
    type MaxSeqLen = MaxSeqLen;
    type EmbedDim = EmbedDim;
    type NumHeads = NumHeads;
    type HiddenDim = HiddenDim;
    type NumLayers = Depth;
    const NORM_EPSILON: f64 = 1e-5;
}

fn main() {}
