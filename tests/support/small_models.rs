//! A small configuration of each family of published models.

#![allow(dead_code, reason = "each binary uses a part of it")]

use typed_transformer::models::bert::BertConfig;
use typed_transformer::models::clip::ClipConfig;
use typed_transformer::models::gemma3::Gemma3Config;
use typed_transformer::models::gpt2::Gpt2Config;
use typed_transformer::models::llama::{LlamaConfig, Norms};
use typed_transformer::models::mixtral::MixtralConfig;
use typed_transformer::models::modern_bert::ModernBertConfig;
use typed_transformer::models::t5::T5Config;
use typed_transformer::models::vit::VitConfig;
use typed_transformer::models::whisper::WhisperConfig;
use typed_transformer::ops::Rotary;
use typed_transformer::prelude::*;

dims! { pub VocabSize = 97; pub NumLayers = 2; }

/// A module for each configuration: its dimensions and the type `Config`. A dimension without a size is the shared one of its
/// name. Those in parentheses belong to no configuration.
macro_rules! small {
    ($(
        $module:ident ($($others:tt)*)
        $($config:ident { $($dim:ident $(= $size:literal)?;)* } { $($name:ident: $kind:ty = $value:expr;)* })*
    );*;) => {$(
        pub mod $module {
            use super::*;

            dims! { $($($(pub $dim = $size;)?)*)* $($others)* }

            pub struct Config;
            $(impl $config for Config {
                $(type $dim = $dim;)*
                $(const $name: $kind = $value;)*
            })*
        }
    )*};
}

small! {
    small_gpt2 (pub SeqLen <= MaxSeqLen;)
    Gpt2Config { VocabSize; MaxSeqLen = 26; EmbedDim = 24; NumHeads = 3; HiddenDim = 96; NumLayers; }
    { NORM_EPSILON: f64 = 1e-5; };

    small_llama (pub SeqLen <= MaxSeqLen;)
    LlamaConfig {
        VocabSize; MaxSeqLen = 40; EmbedDim = 48; HiddenDim = 52; NumLayers; NumHeads = 6; NumKeyValueHeads = 2;
        HeadDim = 8;
    } { NORM_EPSILON: f64 = 1e-6; ROTARY: Rotary = Rotary::halves(10_000.0); TIED_LOGITS: bool = false; };

    small_qwen3 (pub SeqLen <= MaxSeqLen;)
    LlamaConfig {
        VocabSize; MaxSeqLen = 40; EmbedDim = 36; HiddenDim = 52; NumLayers; NumHeads = 6; NumKeyValueHeads = 2;
        HeadDim = 8;
    } {
        NORM_EPSILON: f64 = 1e-6; ROTARY: Rotary = Rotary::halves(1_000_000.0); TIED_LOGITS: bool = true;
        NORMS: Norms = Norms::BeforeAndInHeads;
    };

    small_olmo2 (pub SeqLen <= MaxSeqLen;)
    LlamaConfig {
        VocabSize; MaxSeqLen = 40; EmbedDim = 24; HiddenDim = 44; NumLayers; NumHeads = 6; NumKeyValueHeads = 2;
        HeadDim = 4;
    } {
        NORM_EPSILON: f64 = 1e-6; ROTARY: Rotary = Rotary::halves(500_000.0); TIED_LOGITS: bool = false;
        NORMS: Norms = Norms::After;
    };

    small_gemma3 (pub SeqLen <= MaxSeqLen;)
    Gemma3Config {
        VocabSize; MaxSeqLen = 40; EmbedDim = 36; HiddenDim = 28; NumLayers = 4; NumHeads = 4; NumKeyValueHeads = 2;
        HeadDim = 6; WindowLen = 5;
    } { LAYERS_PER_GLOBAL: usize = 3; NORM_EPSILON: f64 = 1e-6; QUERY_PRE_ATTN_SCALAR: f64 = 10.0; };

    small_mixtral (pub SeqLen <= MaxSeqLen;)
    LlamaConfig {
        VocabSize; MaxSeqLen = 40; EmbedDim = 32; HiddenDim = 36; NumLayers; NumHeads = 4; NumKeyValueHeads = 2;
        HeadDim = 8;
    } { NORM_EPSILON: f64 = 1e-5; ROTARY: Rotary = Rotary::halves(1_000_000.0); TIED_LOGITS: bool = false; }
    MixtralConfig { NumExperts = 5; ExpertsPerToken = 2; } {};

    small_t5 ()
    T5Config {
        VocabSize; MaxTgtLen = 30; EmbedDim = 36; NumHeads = 5; HeadDim = 8; HiddenDim = 52; NumEncoderLayers = 2;
        NumDecoderLayers = 2; NumBuckets = 12;
    } { MAX_DISTANCE: usize = 20; NORM_EPSILON: f64 = 1e-6; };

    small_bert (pub SeqLen <= MaxSeqLen;)
    BertConfig {
        VocabSize; TokenTypes = 2; MaxSeqLen = 32; EmbedDim = 40; NumHeads = 5; HiddenDim = 44; NumLayers;
    } { NORM_EPSILON: f64 = 1e-12; };

    small_bert_encoder ()
    BertConfig {
        VocabSize; TokenTypes = 2; MaxSeqLen = 32; EmbedDim = 40; NumHeads = 5; HiddenDim = 44; NumLayers;
    } { NORM_EPSILON: f64 = 1e-12; POOLER: bool = false; };

    small_modern_bert (pub SeqLen <= MaxSeqLen;)
    ModernBertConfig {
        VocabSize; MaxSeqLen = 40; EmbedDim = 24; NumHeads = 3; HeadDim = 8; HiddenDim = 28; NumLayers = 4; WindowLen = 5;
    } { LAYERS_PER_GLOBAL: usize = 2; NORM_EPSILON: f64 = 1e-5; };

    small_modern_bert_encoder ()
    ModernBertConfig {
        VocabSize; MaxSeqLen = 40; EmbedDim = 24; NumHeads = 3; HeadDim = 8; HiddenDim = 28; NumLayers = 4; WindowLen = 5;
    } { LAYERS_PER_GLOBAL: usize = 2; NORM_EPSILON: f64 = 1e-5; HEAD: bool = false; };

    small_vit ()
    VitConfig {
        Channels = 3; Height = 24; Width = 24; PatchHeight = 6; PatchWidth = 6; EmbedDim = 36; NumHeads = 3; HiddenDim = 44;
        NumLayers;
    } { NORM_EPSILON: f64 = 1e-12; };

    small_vit_encoder ()
    VitConfig {
        Channels = 3; Height = 24; Width = 24; PatchHeight = 6; PatchWidth = 6; EmbedDim = 36; NumHeads = 3; HiddenDim = 44;
        NumLayers;
    } { NORM_EPSILON: f64 = 1e-12; POOLER: bool = false; };

    small_clip (pub SeqLen <= MaxSeqLen;)
    VitConfig {
        Channels = 3; Height = 24; Width = 24; PatchHeight = 8; PatchWidth = 8; EmbedDim = 30; NumHeads = 5; HiddenDim = 44;
        NumLayers;
    } { NORM_EPSILON: f64 = 1e-5; PATCH_BIAS: bool = false; }
    ClipConfig {
        VocabSize; MaxSeqLen = 20; TextEmbedDim = 24; NumTextHeads = 3; TextHiddenDim = 52; NumTextLayers = 3;
        ProjectionDim = 14;
    } {};

    small_whisper ()
    WhisperConfig {
        NumMelBins = 10; SrcLen = 12; VocabSize; MaxTgtLen = 30; EmbedDim = 36; NumHeads = 3; HiddenDim = 52;
        NumEncoderLayers = 2; NumDecoderLayers = 3;
    } {};
}
