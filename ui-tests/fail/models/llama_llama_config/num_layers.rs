//! The number of layers is known at compile time.
//! Covers `NumLayers` of `models::llama::LlamaConfig`.
//! Right with `NumLayers` for `Depth` in line 18.
use typed_transformer::{models::llama::LlamaConfig, ops::Rotary, prelude::*};

dims! {
    VocabSize = 28; MaxSeqLen = 16; EmbedDim = 24; HiddenDim = 96; NumLayers = 2; NumHeads = 6;
    NumKeyValueHeads = 2; HeadDim = 4;
}
dims! { Depth; }

struct Small;
impl LlamaConfig for Small {
    type VocabSize = VocabSize;
    type MaxSeqLen = MaxSeqLen;
    type EmbedDim = EmbedDim;
    type HiddenDim = HiddenDim;
    type NumLayers = Depth;
    type NumHeads = NumHeads;
    type NumKeyValueHeads = NumKeyValueHeads;
    type HeadDim = HeadDim;
    const NORM_EPSILON: f64 = 1e-5;
    const ROTARY: Rotary = Rotary::halves(10_000.0);
    const TIED_LOGITS: bool = false;
}

fn main() {}
