//! A sequence-to-sequence model with sinusoidal positions has an even embedding width.
//! Right with `8` for `7` in line 6.
use typed_transformer::{models::another_annotated::Annotated, prelude::*};

dims! { VocabSize = 28; MaxSeqLen = 16; NumHeads = 4; HeadDim = 2; NumLayers = 1; }
dims! { EmbedDim = 7; }

struct Model;

impl Arch for Model {
    type NumHeads = NumHeads;
    type QKDim = HeadDim;
    type VODim = HeadDim;
    type HiddenDim = VocabSize;
    type Conventions = Annotated;
}

impl Seq2Seq for Model {
    type SrcVocab = VocabSize;
    type TgtVocab = VocabSize;
    type MaxSrcLen = MaxSeqLen;
    type MaxTgtLen = MaxSeqLen;
    type EmbedDim = EmbedDim;
    type NumEncoderLayers = NumLayers;
    type NumDecoderLayers = NumLayers;
}

fn main() {}
