//! The dimensions and the model of the examples in this documentation.

use crate::models::{
    bert::BertConfig, clip::ClipConfig, gemma3::Gemma3Config, gpt2::Gpt2Config, llama::LlamaConfig,
    mixtral::MixtralConfig, modern_bert::ModernBertConfig, t5::T5Config, vit::VitConfig, whisper::WhisperConfig,
};
use crate::{nn::LatentArch, ops::Rotary, prelude::*};

dims! {
    pub VocabSize = 28; pub MaxSeqLen = 15; pub EmbedDim = 8; pub NumHeads = 7; pub HeadDim = 5; pub HiddenDim = 5;
    pub NumLayers = 2; pub EvenHeads = 4; pub NumKeyValueHeads = 2; pub TokenTypes = 2; pub NumExperts = 4;
    pub ExpertsPerToken = 2; pub NumBuckets = 8; pub Channels = 3; pub Height = 4; pub Width = 6; pub PatchHeight = 2;
    pub PatchWidth = 3; pub SrcLen = 4; pub TgtLen = 3; pub SeqLen = 4; pub Batch = 1;
}

/// A small configuration for every kind of model: decoder-only, encoder-only and encoder-decoder.
pub struct Model;

/// A small configuration of the published models.
pub struct Small;

/// Implements traits of configurations. A dimension is the one of its name, or the one after `as`.
macro_rules! configure {
    ($Name:ident: $(
        $config:ident { $($dim:ident $(as $other:ident)?),* } { $($name:ident: $kind:ty = $value:expr;)* }
    )*) => {$(
        #[diagnostic::do_not_recommend]
        impl $config for $Name {
            $(type $dim = configure!(@dim $dim $($other)?);)*
            $(const $name: $kind = $value;)*
        }
    )*};
    (@dim $dim:ident) => { $dim };
    (@dim $dim:ident $other:ident) => { $other };
}

configure! { Model:
    Arch { NumHeads, QKDim as HeadDim, VODim as HeadDim, HiddenDim, Conventions as TypedTransformer } {}

    SingleStack { VocabSize, MaxSeqLen, EmbedDim, NumLayers } {}

    Seq2Seq {
        SrcVocab as VocabSize, TgtVocab as VocabSize, MaxSrcLen as MaxSeqLen, MaxTgtLen as MaxSeqLen, EmbedDim,
        NumEncoderLayers as NumLayers, NumDecoderLayers as NumLayers
    } {}
}

configure! { Small:
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
