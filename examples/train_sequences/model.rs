//! The model: every dimension of it is a line here.

use crate::sequences::{MaxSeqLen, VocabSize};
use typed_transformer::{nn::Module, prelude::*};

dims! {
    /// Width of an embedding.
    pub EmbedDim = 128;
    /// Heads of every attention.
    pub NumHeads = 2;
    /// Width inside a feed-forward block.
    pub HiddenDim = 512;
    /// Layers of the encoder, and of the decoder.
    pub NumLayers = 4;
}

/// The post's tiny configuration.
pub struct Tiny;

impl Arch for Tiny {
    type NumHeads = NumHeads;
    type QKDim = Quotient<EmbedDim, NumHeads>;
    type VODim = Quotient<EmbedDim, NumHeads>;
    type HiddenDim = HiddenDim;
    type Conventions = TypedTransformer;
}

impl Seq2Seq for Tiny {
    type SrcVocab = VocabSize;
    type TgtVocab = VocabSize;
    type MaxSrcLen = MaxSeqLen;
    type MaxTgtLen = MaxSeqLen;
    type EmbedDim = EmbedDim;
    type EncoderLayers = NumLayers;
    type DecoderLayers = NumLayers;
}

pub type Model<D> = LM<Tiny, f32, D>;

const _: () = assert!(Model::<Cpu>::NUM_PARAMS == 1_899_136);
