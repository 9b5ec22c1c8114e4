//! A cache has room for the longest sequence, which is known at compile time.
//! Covers `MaxSeqLen` of `models::llama::LlamaConfig`.
//! Right with `MaxSeqLen` for `Len` in line 15.
use typed_transformer::{models::llama::LlamaConfig, ops::Rotary, prelude::*};

dims! {
    VocabSize = 28; MaxSeqLen = 16; EmbedDim = 24; HiddenDim = 96; NumLayers = 2; NumHeads = 6;
    NumKeyValueHeads = 2; HeadDim = 4;
}
dims! { Len; }

struct Small;
impl LlamaConfig for Small {
    type VocabSize = VocabSize;
    type MaxSeqLen = Len;
    type EmbedDim = EmbedDim;
    type HiddenDim = HiddenDim;
    type NumLayers = NumLayers;
    type NumHeads = NumHeads;
    type NumKeyValueHeads = NumKeyValueHeads;
    type HeadDim = HeadDim;
    const NORM_EPSILON: f64 = 1e-5;
    const ROTARY: Rotary = Rotary::halves(10_000.0);
    const TIED_LOGITS: bool = false;
}

fn main() {}
