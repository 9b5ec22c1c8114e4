//! A module for each published model: its dimensions, its configuration `Config`, and the type `Model`.
//!
//! ```
//! use typed_transformer::{models::published::smol_lm_135m, nn::Module, prelude::*};
//! assert_eq!(smol_lm_135m::Model::<f32, Cpu>::NUM_PARAMS, 134_515_008);
//! assert_eq!(format!("{:?}", smol_lm_135m::NumKeyValueHeads), "NumKeyValueHeads=3");
//! ```
//!
//! The dimensions have the names that the traits of the configurations document. Decoders with the same tokenizer have
//! the same type `VocabSize`, so a smaller one can draft for a larger one
//! ([`Speculation`](crate::generate::Speculation)).
#![allow(missing_docs)]

use super::bert::{Bert, BertConfig};
use super::clip::{Clip, ClipConfig};
use super::gemma3::{Gemma3, Gemma3Config};
use super::gpt2::{Gpt2, Gpt2Config};
use super::llama::{Llama, LlamaConfig, Norms};
use super::mixtral::{Mixtral, MixtralConfig};
use super::modern_bert::{ModernBert, ModernBertConfig};
use super::t5::{T5, T5Config};
use super::vit::{Vit, VitConfig};
use super::whisper::{Whisper, WhisperConfig};
use crate::nn::{FullPrecision, Module as _};
use crate::ops::{Rotary, RotaryScaling};
use dfdx::tensor::Cpu;

/// A module for each size: its dimensions, a type `Config` that implements each `$config`, and the number of the
/// model's parameters. After `, tokens of gpt2`, the vocabulary is that of the module `gpt2`.
macro_rules! published {
    ($(
        $(#[$meta:meta])*
        $module:ident = $repository:literal: $model:ident, $count:literal parameters
        $($config:ident $(, tokens of $family:ident)? { $($dim:ident = $size:literal;)* }
            { $($name:ident: $kind:ty = $value:expr;)* })*
    );*;) => {$(
        $(#[$meta])*
        #[doc = concat!(" Its repository is [`", $repository, "`](https://huggingface.co/", $repository, ").")]
        pub mod $module {
            use super::*;

            /// The dimensions. They are private and have public aliases. If they were public, rustc would print full
            /// paths wherever a user's dimension has the same name.
            mod dimensions {
                crate::dims! { $($(pub $dim = $size;)*)* }
            }
            $($(
                pub type $dim = dimensions::$dim;
                #[allow(non_upper_case_globals)]
                pub const $dim: $dim = dimensions::$dim;
            )*)*
            $($(pub use super::$family::VocabSize;)?)*

            #[derive(Clone, Copy, Debug)]
            pub struct Config;
            $(#[diagnostic::do_not_recommend]
            impl $config for Config {
                $(type $dim = $dim;)*
                $(type VocabSize = super::$family::VocabSize;)?
                $(const $name: $kind = $value;)*
            })*

            pub type Model<E = f32, D = Cpu, P = FullPrecision> = $model<Config, E, D, P>;
            const _: () = assert!(Model::<f32, Cpu>::NUM_PARAMS == $count);
        }
    )*};
}

/// The rotary positions of Llama 3.2, for sequences 16 times as long as those of the model's first training run.
const LLAMA_3_2_SCALING: RotaryScaling =
    RotaryScaling { factor: 32.0, low_frequency_factor: 1.0, high_frequency_factor: 4.0, original_len: 8192 };

published! {
    /// GPT-2 of 124 million parameters.
    gpt2 = "openai-community/gpt2": Gpt2, 124_439_808 parameters
    Gpt2Config {
        VocabSize = 50_257; MaxSeqLen = 1024; EmbedDim = 768; NumHeads = 12; HiddenDim = 3072; NumLayers = 12;
    } { NORM_EPSILON: f64 = 1e-5; };

    /// GPT-2 of 355 million parameters.
    gpt2_medium = "openai-community/gpt2-medium": Gpt2, 354_823_168 parameters
    Gpt2Config, tokens of gpt2 {
        MaxSeqLen = 1024; EmbedDim = 1024; NumHeads = 16; HiddenDim = 4096; NumLayers = 24;
    } { NORM_EPSILON: f64 = 1e-5; };

    /// GPT-2 with vectors of two elements, for tests.
    tiny_gpt2 = "sshleifer/tiny-gpt2": Gpt2, 102_714 parameters
    Gpt2Config, tokens of gpt2 { MaxSeqLen = 1024; EmbedDim = 2; NumHeads = 2; HiddenDim = 8; NumLayers = 2; }
    { NORM_EPSILON: f64 = 1e-5; };

    /// SmolLM of 135 million parameters.
    smol_lm_135m = "HuggingFaceTB/SmolLM-135M": Llama, 134_515_008 parameters
    LlamaConfig {
        VocabSize = 49_152; MaxSeqLen = 2048; EmbedDim = 576; HiddenDim = 1536; NumLayers = 30; NumHeads = 9;
        NumKeyValueHeads = 3; HeadDim = 64;
    } { NORM_EPSILON: f64 = 1e-5; ROTARY: Rotary = Rotary::halves(10_000.0); TIED_LOGITS: bool = true; };

    /// Llama 3.2 of 1.2 billion parameters.
    llama_3_2_1b = "meta-llama/Llama-3.2-1B": Llama, 1_235_814_400 parameters
    LlamaConfig {
        VocabSize = 128_256; MaxSeqLen = 131_072; EmbedDim = 2048; HiddenDim = 8192; NumLayers = 16; NumHeads = 32;
        NumKeyValueHeads = 8; HeadDim = 64;
    } {
        NORM_EPSILON: f64 = 1e-5;
        ROTARY: Rotary = Rotary { scaling: Some(LLAMA_3_2_SCALING), ..Rotary::halves(500_000.0) };
        TIED_LOGITS: bool = true;
    };

    /// TinyLlama of 1.1 billion parameters.
    tiny_llama_1_1b = "TinyLlama/TinyLlama-1.1B-Chat-v1.0": Llama, 1_100_048_384 parameters
    LlamaConfig {
        VocabSize = 32_000; MaxSeqLen = 2048; EmbedDim = 2048; HiddenDim = 5632; NumLayers = 22; NumHeads = 32;
        NumKeyValueHeads = 4; HeadDim = 64;
    } { NORM_EPSILON: f64 = 1e-5; ROTARY: Rotary = Rotary::halves(10_000.0); TIED_LOGITS: bool = false; };

    /// Qwen3 of 0.6 billion parameters. Its `MaxSeqLen` is that of `Qwen3-0.6B-Base`, which also loads.
    qwen3_0_6b = "Qwen/Qwen3-0.6B": Llama, 596_049_920 parameters
    LlamaConfig {
        VocabSize = 151_936; MaxSeqLen = 32_768; EmbedDim = 1024; HiddenDim = 3072; NumLayers = 28; NumHeads = 16;
        NumKeyValueHeads = 8; HeadDim = 128;
    } {
        NORM_EPSILON: f64 = 1e-6; ROTARY: Rotary = Rotary::halves(1_000_000.0); TIED_LOGITS: bool = true;
        NORMS: Norms = Norms::BeforeAndInHeads;
    };

    /// Qwen3 of 1.7 billion parameters. Its `MaxSeqLen` is that of `Qwen3-1.7B-Base`, which also loads.
    qwen3_1_7b = "Qwen/Qwen3-1.7B": Llama, 1_720_574_976 parameters
    LlamaConfig, tokens of qwen3_0_6b {
        MaxSeqLen = 32_768; EmbedDim = 2048; HiddenDim = 6144; NumLayers = 28; NumHeads = 16;
        NumKeyValueHeads = 8; HeadDim = 128;
    } {
        NORM_EPSILON: f64 = 1e-6; ROTARY: Rotary = Rotary::halves(1_000_000.0); TIED_LOGITS: bool = true;
        NORMS: Norms = Norms::BeforeAndInHeads;
    };

    /// Qwen3 of 8.2 billion parameters. Its `MaxSeqLen` is that of `Qwen3-8B-Base`, which also loads.
    qwen3_8b = "Qwen/Qwen3-8B": Llama, 8_190_735_360 parameters
    LlamaConfig, tokens of qwen3_0_6b {
        MaxSeqLen = 32_768; EmbedDim = 4096; HiddenDim = 12_288; NumLayers = 36; NumHeads = 32;
        NumKeyValueHeads = 8; HeadDim = 128;
    } {
        NORM_EPSILON: f64 = 1e-6; ROTARY: Rotary = Rotary::halves(1_000_000.0); TIED_LOGITS: bool = false;
        NORMS: Norms = Norms::BeforeAndInHeads;
    };

    /// OLMo 2 of 1.5 billion parameters.
    olmo_2_1b = "allenai/OLMo-2-0425-1B": Llama, 1_484_916_736 parameters
    LlamaConfig {
        VocabSize = 100_352; MaxSeqLen = 4096; EmbedDim = 2048; HiddenDim = 8192; NumLayers = 16; NumHeads = 16;
        NumKeyValueHeads = 16; HeadDim = 128;
    } {
        NORM_EPSILON: f64 = 1e-6; ROTARY: Rotary = Rotary::halves(500_000.0); TIED_LOGITS: bool = false;
        NORMS: Norms = Norms::After;
    };

    /// OLMo 2 of 7.3 billion parameters.
    olmo_2_7b = "allenai/OLMo-2-1124-7B": Llama, 7_298_617_344 parameters
    LlamaConfig, tokens of olmo_2_1b {
        MaxSeqLen = 4096; EmbedDim = 4096; HiddenDim = 11_008; NumLayers = 32; NumHeads = 32;
        NumKeyValueHeads = 32; HeadDim = 128;
    } {
        NORM_EPSILON: f64 = 1e-6; ROTARY: Rotary = Rotary::halves(500_000.0); TIED_LOGITS: bool = false;
        NORMS: Norms = Norms::After;
    };

    /// Gemma 3 of 268 million parameters.
    gemma_3_270m = "google/gemma-3-270m": Gemma3, 268_098_176 parameters
    Gemma3Config {
        VocabSize = 262_144; MaxSeqLen = 32_768; EmbedDim = 640; HiddenDim = 2048; NumLayers = 18; NumHeads = 4;
        NumKeyValueHeads = 1; HeadDim = 256; WindowLen = 512;
    } { NORM_EPSILON: f64 = 1e-6; QUERY_PRE_ATTN_SCALAR: f64 = 256.0; };

    /// Gemma 3 of 1 billion parameters.
    gemma_3_1b = "google/gemma-3-1b-pt": Gemma3, 999_885_952 parameters
    Gemma3Config, tokens of gemma_3_270m {
        MaxSeqLen = 32_768; EmbedDim = 1152; HiddenDim = 6912; NumLayers = 26; NumHeads = 4;
        NumKeyValueHeads = 1; HeadDim = 256; WindowLen = 512;
    } { NORM_EPSILON: f64 = 1e-6; QUERY_PRE_ATTN_SCALAR: f64 = 256.0; };

    /// Mixtral of 8 experts, of which 2 compute a token.
    mixtral_8x7b = "mistralai/Mixtral-8x7B-v0.1": Mixtral, 46_702_792_704 parameters
    LlamaConfig {
        VocabSize = 32_000; MaxSeqLen = 32_768; EmbedDim = 4096; HiddenDim = 14_336; NumLayers = 32; NumHeads = 32;
        NumKeyValueHeads = 8; HeadDim = 128;
    } { NORM_EPSILON: f64 = 1e-5; ROTARY: Rotary = Rotary::halves(1_000_000.0); TIED_LOGITS: bool = false; }
    MixtralConfig { NumExperts = 8; ExpertsPerToken = 2; } {};

    /// BERT.
    bert_base_uncased = "google-bert/bert-base-uncased": Bert, 109_482_240 parameters
    BertConfig {
        VocabSize = 30_522; TokenTypes = 2; MaxSeqLen = 512; EmbedDim = 768; NumHeads = 12; HiddenDim = 3072;
        NumLayers = 12;
    } { NORM_EPSILON: f64 = 1e-12; };

    /// A sentence encoder.
    all_mini_lm_l6_v2 = "sentence-transformers/all-MiniLM-L6-v2": Bert, 22_713_216 parameters
    BertConfig {
        VocabSize = 30_522; TokenTypes = 2; MaxSeqLen = 512; EmbedDim = 384; NumHeads = 12; HiddenDim = 1536;
        NumLayers = 6;
    } { NORM_EPSILON: f64 = 1e-12; };

    /// ModernBERT of 150 million parameters.
    modern_bert_base = "answerdotai/ModernBERT-base": ModernBert, 149_655_232 parameters
    ModernBertConfig {
        VocabSize = 50_368; MaxSeqLen = 8192; EmbedDim = 768; NumHeads = 12; HeadDim = 64; HiddenDim = 1152; NumLayers = 22;
        WindowLen = 128;
    } { NORM_EPSILON: f64 = 1e-5; };

    /// ModernBERT of 396 million parameters.
    modern_bert_large = "answerdotai/ModernBERT-large": ModernBert, 395_881_664 parameters
    ModernBertConfig {
        VocabSize = 50_368; MaxSeqLen = 8192; EmbedDim = 1024; NumHeads = 16; HeadDim = 64; HiddenDim = 2624;
        NumLayers = 28; WindowLen = 128;
    } { NORM_EPSILON: f64 = 1e-5; };

    /// T5 of 61 million parameters.
    t5_small = "google-t5/t5-small": T5, 60_506_624 parameters
    T5Config {
        VocabSize = 32_128; MaxTgtLen = 512; EmbedDim = 512; NumHeads = 8; HeadDim = 64; HiddenDim = 2048;
        NumEncoderLayers = 6; NumDecoderLayers = 6; NumBuckets = 32;
    } { MAX_DISTANCE: usize = 128; NORM_EPSILON: f64 = 1e-6; };

    /// Whisper of 37 million parameters.
    whisper_tiny = "openai/whisper-tiny": Whisper, 37_184_640 parameters
    WhisperConfig {
        NumMelBins = 80; SrcLen = 1500; VocabSize = 51_865; MaxTgtLen = 448; EmbedDim = 384; NumHeads = 6; HiddenDim = 1536;
        NumEncoderLayers = 4; NumDecoderLayers = 4;
    } {};

    /// Whisper of 72 million parameters.
    whisper_base = "openai/whisper-base": Whisper, 71_825_920 parameters
    WhisperConfig, tokens of whisper_tiny {
        NumMelBins = 80; SrcLen = 1500; MaxTgtLen = 448; EmbedDim = 512; NumHeads = 8; HiddenDim = 2048;
        NumEncoderLayers = 6; NumDecoderLayers = 6;
    } {};

    /// Whisper of 241 million parameters.
    whisper_small = "openai/whisper-small": Whisper, 240_582_912 parameters
    WhisperConfig, tokens of whisper_tiny {
        NumMelBins = 80; SrcLen = 1500; MaxTgtLen = 448; EmbedDim = 768; NumHeads = 12; HiddenDim = 3072;
        NumEncoderLayers = 12; NumDecoderLayers = 12;
    } {};

    /// A Vision Transformer for images of 224 by 224 pixels. Files with a classifier, such as
    /// `google/vit-base-patch16-224`, have no pooler: a configuration of one's own with `POOLER` false reads them.
    vit_base_patch16_224 = "google/vit-base-patch16-224-in21k": Vit, 86_389_248 parameters
    VitConfig {
        Channels = 3; Height = 224; Width = 224; PatchHeight = 16; PatchWidth = 16; EmbedDim = 768; NumHeads = 12;
        HiddenDim = 3072; NumLayers = 12;
    } { NORM_EPSILON: f64 = 1e-12; };

    /// CLIP for images of 224 by 224 pixels.
    clip_vit_base_patch32 = "openai/clip-vit-base-patch32": Clip, 151_277_313 parameters
    VitConfig {
        Channels = 3; Height = 224; Width = 224; PatchHeight = 32; PatchWidth = 32; EmbedDim = 768; NumHeads = 12;
        HiddenDim = 3072; NumLayers = 12;
    } { NORM_EPSILON: f64 = 1e-5; PATCH_BIAS: bool = false; }
    ClipConfig {
        VocabSize = 49_408; MaxSeqLen = 77; TextEmbedDim = 512; NumTextHeads = 8; TextHiddenDim = 2048;
        NumTextLayers = 12; ProjectionDim = 512;
    } {};
}
