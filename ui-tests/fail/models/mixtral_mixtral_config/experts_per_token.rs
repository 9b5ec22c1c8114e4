//! No more experts compute a token than there are.
//! Covers `ExpertsPerToken` of `models::mixtral::MixtralConfig`.
//! Right with `ExpertsPerToken` for `TooMany` in line 28.
use typed_transformer::{models::{llama::LlamaConfig, mixtral::MixtralConfig}, ops::Rotary, prelude::*};

dims! {
    VocabSize = 28; MaxSeqLen = 16; EmbedDim = 24; HiddenDim = 96; NumLayers = 2; NumHeads = 6;
    NumKeyValueHeads = 2; HeadDim = 4; NumExperts = 4; ExpertsPerToken = 2;
}
dims! { TooMany = 5; }

struct Small;
impl LlamaConfig for Small {
    type VocabSize = VocabSize;
    type MaxSeqLen = MaxSeqLen;
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
impl MixtralConfig for Small {
    type NumExperts = NumExperts;
    type ExpertsPerToken = TooMany;
}

fn main() {}
