//! Rotary positions rotate pairs of columns, so a head has an even number of them.
//! Covers `HeadDim` of `models::llama::LlamaConfig`.
//! Right with `HeadDim` for `OddDim` in line 21.
use typed_transformer::{models::llama::LlamaConfig, ops::Rotary, prelude::*};

dims! {
    VocabSize = 28; MaxSeqLen = 16; EmbedDim = 24; HiddenDim = 96; NumLayers = 2; NumHeads = 6;
    NumKeyValueHeads = 2; HeadDim = 4;
}
dims! { OddDim = 5; }

struct Small;
impl LlamaConfig for Small {
    type VocabSize = VocabSize;
    type MaxSeqLen = MaxSeqLen;
    type EmbedDim = EmbedDim;
    type HiddenDim = HiddenDim;
    type NumLayers = NumLayers;
    type NumHeads = NumHeads;
    type NumKeyValueHeads = NumKeyValueHeads;
    type HeadDim = OddDim;
    const NORM_EPSILON: f64 = 1e-5;
    const ROTARY: Rotary = Rotary::halves(10_000.0);
    const TIED_LOGITS: bool = false;
}

fn main() {}
