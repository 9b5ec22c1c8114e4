//! A small configuration of each family of published models.

#![allow(dead_code, reason = "each binary uses a part of it")]

use typed_transformer::models::bert::BertConfig;
use typed_transformer::models::gemma3::Gemma3Config;
use typed_transformer::models::gpt2::Gpt2Config;
use typed_transformer::models::llama::{LlamaConfig, Norms};
use typed_transformer::models::mixtral::MixtralConfig;
use typed_transformer::models::t5::T5Config;
use typed_transformer::models::vit::VitConfig;
use typed_transformer::ops::Rotary;
use typed_transformer::prelude::*;

dims! { pub VocabSize = 97; pub NumLayers = 2; }

pub mod small_gpt2 {
    use super::*;

    dims! { pub EmbedDim = 24; pub NumHeads = 3; pub HiddenDim = 96; pub MaxSeqLen = 26; pub SeqLen <= MaxSeqLen; }

    pub struct Config;
    impl Gpt2Config for Config {
        type VocabSize = VocabSize;
        type MaxSeqLen = MaxSeqLen;
        type EmbedDim = EmbedDim;
        type NumHeads = NumHeads;
        type HiddenDim = HiddenDim;
        type NumLayers = NumLayers;
        const NORM_EPSILON: f64 = 1e-5;
    }
}

pub mod small_llama {
    use super::*;

    dims! {
        pub EmbedDim = 48; pub NumHeads = 6; pub NumKeyValueHeads = 2; pub HeadDim = 8; pub HiddenDim = 52;
        pub MaxSeqLen = 40; pub SeqLen <= MaxSeqLen;
    }

    pub struct Config;
    impl LlamaConfig for Config {
        type VocabSize = VocabSize;
        type MaxSeqLen = MaxSeqLen;
        type EmbedDim = EmbedDim;
        type HiddenDim = HiddenDim;
        type NumLayers = NumLayers;
        type NumHeads = NumHeads;
        type NumKeyValueHeads = NumKeyValueHeads;
        type HeadDim = HeadDim;
        const NORM_EPSILON: f64 = 1e-6;
        const ROTARY: Rotary = Rotary::halves(10_000.0);
        const TIED_LOGITS: bool = false;
    }
}

pub mod small_qwen3 {
    use super::*;

    dims! {
        pub EmbedDim = 36; pub NumHeads = 6; pub NumKeyValueHeads = 2; pub HeadDim = 8; pub HiddenDim = 52;
        pub MaxSeqLen = 40; pub SeqLen <= MaxSeqLen;
    }

    pub struct Config;
    impl LlamaConfig for Config {
        type VocabSize = VocabSize;
        type MaxSeqLen = MaxSeqLen;
        type EmbedDim = EmbedDim;
        type HiddenDim = HiddenDim;
        type NumLayers = NumLayers;
        type NumHeads = NumHeads;
        type NumKeyValueHeads = NumKeyValueHeads;
        type HeadDim = HeadDim;
        const NORM_EPSILON: f64 = 1e-6;
        const ROTARY: Rotary = Rotary::halves(1_000_000.0);
        const TIED_LOGITS: bool = true;
        const NORMS: Norms = Norms::BeforeAndInHeads;
    }
}

pub mod small_olmo2 {
    use super::*;

    dims! {
        pub EmbedDim = 24; pub NumHeads = 6; pub NumKeyValueHeads = 2; pub HeadDim = 4; pub HiddenDim = 44;
        pub MaxSeqLen = 40; pub SeqLen <= MaxSeqLen;
    }

    pub struct Config;
    impl LlamaConfig for Config {
        type VocabSize = VocabSize;
        type MaxSeqLen = MaxSeqLen;
        type EmbedDim = EmbedDim;
        type HiddenDim = HiddenDim;
        type NumLayers = NumLayers;
        type NumHeads = NumHeads;
        type NumKeyValueHeads = NumKeyValueHeads;
        type HeadDim = HeadDim;
        const NORM_EPSILON: f64 = 1e-6;
        const ROTARY: Rotary = Rotary::halves(500_000.0);
        const TIED_LOGITS: bool = false;
        const NORMS: Norms = Norms::After;
    }
}

pub mod small_gemma3 {
    use super::*;

    dims! {
        pub NumMixedLayers = 4; pub EmbedDim = 36; pub NumHeads = 4; pub NumKeyValueHeads = 2; pub HeadDim = 6;
        pub HiddenDim = 28; pub WindowLen = 5; pub MaxSeqLen = 40; pub SeqLen <= MaxSeqLen;
    }

    pub struct Config;
    impl Gemma3Config for Config {
        type VocabSize = VocabSize;
        type MaxSeqLen = MaxSeqLen;
        type EmbedDim = EmbedDim;
        type HiddenDim = HiddenDim;
        type NumLayers = NumMixedLayers;
        type NumHeads = NumHeads;
        type NumKeyValueHeads = NumKeyValueHeads;
        type HeadDim = HeadDim;
        type WindowLen = WindowLen;
        const LAYERS_PER_GLOBAL: usize = 3;
        const NORM_EPSILON: f64 = 1e-6;
        const QUERY_SIZE: f64 = 10.0;
    }
}

pub mod small_mixtral {
    use super::*;

    dims! {
        pub EmbedDim = 32; pub NumHeads = 4; pub NumKeyValueHeads = 2; pub HeadDim = 8; pub HiddenDim = 36;
        pub MaxSeqLen = 40; pub NumExperts = 5; pub ExpertsPerToken = 2; pub SeqLen <= MaxSeqLen;
    }

    pub struct Config;
    impl LlamaConfig for Config {
        type VocabSize = VocabSize;
        type MaxSeqLen = MaxSeqLen;
        type EmbedDim = EmbedDim;
        type HiddenDim = HiddenDim;
        type NumLayers = NumLayers;
        type NumHeads = NumHeads;
        type NumKeyValueHeads = NumKeyValueHeads;
        type HeadDim = HeadDim;
        const NORM_EPSILON: f64 = 1e-5;
        const ROTARY: Rotary = Rotary::halves(1_000_000.0);
        const TIED_LOGITS: bool = false;
    }
    impl MixtralConfig for Config {
        type NumExperts = NumExperts;
        type ExpertsPerToken = ExpertsPerToken;
    }
}

pub mod small_t5 {
    use super::*;

    dims! {
        pub EmbedDim = 36; pub NumHeads = 5; pub HeadDim = 8; pub HiddenDim = 52; pub MaxTgtLen = 30;
        pub NumBuckets = 12;
    }

    pub struct Config;
    impl T5Config for Config {
        type VocabSize = VocabSize;
        type MaxTgtLen = MaxTgtLen;
        type EmbedDim = EmbedDim;
        type NumHeads = NumHeads;
        type HeadDim = HeadDim;
        type HiddenDim = HiddenDim;
        type NumEncoderLayers = NumLayers;
        type NumDecoderLayers = NumLayers;
        type NumBuckets = NumBuckets;
        const MAX_DISTANCE: usize = 20;
        const NORM_EPSILON: f64 = 1e-6;
    }
}

pub mod small_bert {
    use super::*;

    dims! {
        pub TokenTypes = 2; pub EmbedDim = 40; pub NumHeads = 5; pub HiddenDim = 44; pub MaxSeqLen = 32;
        pub SeqLen <= MaxSeqLen;
    }

    pub struct Config;
    impl BertConfig for Config {
        type VocabSize = VocabSize;
        type TokenTypes = TokenTypes;
        type MaxSeqLen = MaxSeqLen;
        type EmbedDim = EmbedDim;
        type NumHeads = NumHeads;
        type HiddenDim = HiddenDim;
        type NumLayers = NumLayers;
        const NORM_EPSILON: f64 = 1e-12;
    }
}

pub mod small_vit {
    use super::*;

    dims! {
        pub Height = 24; pub Width = 24; pub Patch = 6; pub EmbedDim = 36; pub NumHeads = 3; pub HiddenDim = 44;
    }

    pub struct Config;
    impl VitConfig for Config {
        type Channels = Const<3>;
        type Height = Height;
        type Width = Width;
        type PatchHeight = Patch;
        type PatchWidth = Patch;
        type EmbedDim = EmbedDim;
        type NumHeads = NumHeads;
        type HiddenDim = HiddenDim;
        type NumLayers = NumLayers;
        const NORM_EPSILON: f64 = 1e-12;
    }
}
