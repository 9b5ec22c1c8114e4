//! A decoder-only model with sinusoidal positions has an even embedding width.
//! Right with `8` for `7` in line 6.
use typed_transformer::{models::learning_the_transformer::Learning, prelude::*};

dims! { VocabSize = 28; MaxSeqLen = 16; NumHeads = 4; HeadDim = 2; NumLayers = 1; }
dims! { EmbedDim = 7; }

struct Model;

impl Arch for Model {
    type NumHeads = NumHeads;
    type QKDim = HeadDim;
    type VODim = HeadDim;
    type HiddenDim = VocabSize;
    type Conventions = Learning;
}

impl SingleStack for Model {
    type VocabSize = VocabSize;
    type MaxSeqLen = MaxSeqLen;
    type EmbedDim = EmbedDim;
    type NumLayers = NumLayers;
}

fn main() {}
