//! The dimensions and the model of the examples in this documentation.

use crate::models::bert::BertConfig;
use crate::models::clip::ClipConfig;
use crate::models::gemma3::Gemma3Config;
use crate::models::gpt2::Gpt2Config;
use crate::models::llama::LlamaConfig;
use crate::models::mixtral::MixtralConfig;
use crate::models::modern_bert::ModernBertConfig;
use crate::models::t5::T5Config;
use crate::models::vit::VitConfig;
use crate::models::whisper::WhisperConfig;
use crate::nn::LatentArch;
use crate::ops::Rotary;
use crate::prelude::*;

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

/// Implements traits of configurations for [`Small`]. A dimension is the one of its name, or the one after `as`.
macro_rules! small {
    ($($config:ident { $($dim:ident $(as $other:ident)?),* } { $($name:ident: $kind:ty = $value:expr;)* })*) => {$(
        #[diagnostic::do_not_recommend]
        impl $config for Small {
            $(type $dim = small!(@dim $dim $($other)?);)*
            $(const $name: $kind = $value;)*
        }
    )*};
    (@dim $dim:ident) => { $dim };
    (@dim $dim:ident $other:ident) => { $other };
}

small! {
    Gpt2Config { VocabSize, MaxSeqLen, EmbedDim, NumHeads as EvenHeads, HiddenDim, NumLayers }
    { NORM_EPSILON: f64 = 1e-5; }

    LlamaConfig {
        VocabSize, MaxSeqLen, EmbedDim, HiddenDim, NumLayers, NumHeads as EvenHeads, NumKeyValueHeads,
        HeadDim as EvenHeads
    } { NORM_EPSILON: f64 = 1e-5; ROTARY: Rotary = Rotary::halves(10_000.0); TIED_LOGITS: bool = true; }

    Gemma3Config {
        VocabSize, MaxSeqLen, EmbedDim, HiddenDim, NumLayers, NumHeads as EvenHeads, NumKeyValueHeads,
        HeadDim as EvenHeads, WindowLen as TgtLen
    } { LAYERS_PER_GLOBAL: usize = 2; NORM_EPSILON: f64 = 1e-6; QUERY_PRE_ATTN_SCALAR: f64 = 4.0; }

    BertConfig { VocabSize, TokenTypes, MaxSeqLen, EmbedDim, NumHeads as EvenHeads, HiddenDim, NumLayers }
    { NORM_EPSILON: f64 = 1e-12; }

    VitConfig {
        Channels, Height, Width, PatchHeight, PatchWidth, EmbedDim, NumHeads as EvenHeads, HiddenDim, NumLayers
    } { NORM_EPSILON: f64 = 1e-12; }

    ClipConfig {
        VocabSize, MaxSeqLen, TextEmbedDim as EmbedDim, NumTextHeads as EvenHeads, TextHiddenDim as HiddenDim,
        NumTextLayers as NumLayers, ProjectionDim as HeadDim
    } {}

    LatentArch {
        EmbedDim, NumHeads, QueryLatentDim as HiddenDim, LatentDim as TgtLen, PlainDim as HeadDim,
        RotaryDim as EvenHeads, ValueDim as HeadDim
    } {}

    MixtralConfig { NumExperts, ExpertsPerToken } {}

    ModernBertConfig {
        VocabSize, MaxSeqLen, EmbedDim, NumHeads, HeadDim as EvenHeads, HiddenDim, NumLayers, WindowLen as TgtLen
    } { NORM_EPSILON: f64 = 1e-5; }

    T5Config {
        VocabSize, MaxTgtLen as MaxSeqLen, EmbedDim, NumHeads, HeadDim, HiddenDim, NumEncoderLayers as NumLayers,
        NumDecoderLayers as NumLayers, NumBuckets
    } { MAX_DISTANCE: usize = 16; NORM_EPSILON: f64 = 1e-6; }

    WhisperConfig {
        NumMelBins as Channels, SrcLen, VocabSize, MaxTgtLen as MaxSeqLen, EmbedDim, NumHeads as EvenHeads, HiddenDim,
        NumEncoderLayers as NumLayers, NumDecoderLayers as NumLayers
    } {}
}
