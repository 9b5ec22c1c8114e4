//! The dimensions and the model of the examples in this documentation.

use crate::{
    models::{
        bert::BertConfig, gemma3::Gemma3Config, gpt2::Gpt2Config, llama::LlamaConfig, mixtral::MixtralConfig,
        t5::T5Config, vit::VitConfig,
    },
    ops::Rotary,
    prelude::*,
};

dims! {
    pub VocabSize = 28; pub MaxSeqLen = 15; pub EmbedDim = 8; pub NumHeads = 7; pub HeadDim = 5; pub HiddenDim = 5;
    pub NumLayers = 2; pub EvenHeads = 4; pub NumKeyValueHeads = 2; pub TokenTypes = 2; pub NumExperts = 4;
    pub ExpertsPerToken = 2; pub NumBuckets = 8; pub Channels = 3; pub Height = 4; pub Width = 6; pub PatchHeight = 2;
    pub PatchWidth = 3; pub SrcLen = 4; pub TgtLen = 3; pub SeqLen = 4; pub Batch = 1;
}

/// A small configuration for every kind of model: decoder-only, encoder-only and encoder-decoder.
pub struct Model;

impl Arch for Model {
    type NumHeads = NumHeads;
    type QKDim = HeadDim;
    type VODim = HeadDim;
    type HiddenDim = HiddenDim;
    type Conventions = TypedTransformer;
}

impl SingleStack for Model {
    type VocabSize = VocabSize;
    type MaxSeqLen = MaxSeqLen;
    type EmbedDim = EmbedDim;
    type NumLayers = NumLayers;
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

/// A small configuration of the published models.
pub struct Small;

#[diagnostic::do_not_recommend]
impl Gpt2Config for Small {
    type VocabSize = VocabSize;
    type MaxSeqLen = MaxSeqLen;
    type EmbedDim = EmbedDim;
    type NumHeads = EvenHeads;
    type HiddenDim = HiddenDim;
    type NumLayers = NumLayers;
    const NORM_EPSILON: f64 = 1e-5;
}

#[diagnostic::do_not_recommend]
impl LlamaConfig for Small {
    type VocabSize = VocabSize;
    type MaxSeqLen = MaxSeqLen;
    type EmbedDim = EmbedDim;
    type HiddenDim = HiddenDim;
    type NumLayers = NumLayers;
    type NumHeads = EvenHeads;
    type NumKeyValueHeads = NumKeyValueHeads;
    type HeadDim = EvenHeads;
    const NORM_EPSILON: f64 = 1e-5;
    const ROTARY: Rotary = Rotary::halves(10_000.0);
    const TIED_LOGITS: bool = true;
}

#[diagnostic::do_not_recommend]
impl Gemma3Config for Small {
    type VocabSize = VocabSize;
    type MaxSeqLen = MaxSeqLen;
    type EmbedDim = EmbedDim;
    type HiddenDim = HiddenDim;
    type NumLayers = NumLayers;
    type NumHeads = EvenHeads;
    type NumKeyValueHeads = NumKeyValueHeads;
    type HeadDim = EvenHeads;
    type WindowLen = TgtLen;
    const LAYERS_PER_GLOBAL: usize = 2;
    const NORM_EPSILON: f64 = 1e-6;
    const QUERY_SIZE: f64 = 4.0;
}

#[diagnostic::do_not_recommend]
impl BertConfig for Small {
    type VocabSize = VocabSize;
    type TokenTypes = TokenTypes;
    type MaxSeqLen = MaxSeqLen;
    type EmbedDim = EmbedDim;
    type NumHeads = EvenHeads;
    type HiddenDim = HiddenDim;
    type NumLayers = NumLayers;
    const NORM_EPSILON: f64 = 1e-12;
}

#[diagnostic::do_not_recommend]
impl VitConfig for Small {
    type Channels = Channels;
    type Height = Height;
    type Width = Width;
    type PatchHeight = PatchHeight;
    type PatchWidth = PatchWidth;
    type EmbedDim = EmbedDim;
    type NumHeads = EvenHeads;
    type HiddenDim = HiddenDim;
    type NumLayers = NumLayers;
    const NORM_EPSILON: f64 = 1e-12;
}

#[diagnostic::do_not_recommend]
impl MixtralConfig for Small {
    type NumExperts = NumExperts;
    type ExpertsPerToken = ExpertsPerToken;
}

#[diagnostic::do_not_recommend]
impl T5Config for Small {
    type VocabSize = VocabSize;
    type MaxTgtLen = MaxSeqLen;
    type EmbedDim = EmbedDim;
    type NumHeads = NumHeads;
    type HeadDim = HeadDim;
    type HiddenDim = HiddenDim;
    type NumEncoderLayers = NumLayers;
    type NumDecoderLayers = NumLayers;
    type NumBuckets = NumBuckets;
    const MAX_DISTANCE: usize = 16;
    const NORM_EPSILON: f64 = 1e-6;
}
