//! The model: every dimension of it is a line here.

use crate::words::{MaxSeqLen, VocabSize};
use typed_transformer::{models::another_annotated::Annotated, nn::Module, prelude::*};

dims! {
    /// Width of an embedding.
    pub EmbedDim = 8;
    /// Heads of every attention.
    pub NumHeads = 7;
    /// Size of a head; 7 × 5 need not be 8.
    pub HeadDim = 5;
    /// Width inside a feed-forward block.
    pub HiddenDim = 5;
    /// Layers of the encoder, and of the decoder.
    pub NumLayers = 1;
}

/// The post's rot13 model.
pub struct Rot13;

impl Arch for Rot13 {
    type NumHeads = NumHeads;
    type QKDim = HeadDim;
    type VODim = HeadDim;
    type HiddenDim = HiddenDim;
    type Conventions = Annotated;
}

impl Seq2Seq for Rot13 {
    type SrcVocab = VocabSize;
    type TgtVocab = VocabSize;
    type MaxSrcLen = MaxSeqLen;
    type MaxTgtLen = MaxSeqLen;
    type EmbedDim = EmbedDim;
    type EncoderLayers = NumLayers;
    type DecoderLayers = NumLayers;
}

pub type Model<D> = LM<Rot13, f32, D>;

const _: () = assert!(Model::<Cpu>::NUM_PARAMS == 4_665);
