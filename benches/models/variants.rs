//! Variants of nanoGPT's configuration for a CPU: with dropout, and as a published model in a precision.

use crate::models::{Step, decoder_step, decoder_work, published_step};
use typed_transformer::models::gpt2::Gpt2Config;
use typed_transformer::models::nano_gpt::NanoGpt;
use typed_transformer::nn::Trainable;
use typed_transformer::prelude::*;

dims! {
    VocabSize = 65; MaxSeqLen = 64; EmbedDim = 128; NumHeads = 4; HeadDim = 32; HiddenDim = 512; NumLayers = 4; Batch = 12;
}

/// With dropout of a tenth: of the embeddings, of the attention weights and of each sublayer's output.
pub fn gpt_dropout() -> Step {
    single_stack!(Gpt: NanoGpt, dropout 0.1);
    decoder_step::<Gpt, Batch, MaxSeqLen>()
}

/// As a [`Gpt2`], which has biases, in the precision `P`.
pub fn gpt_published<P: Trainable>() -> Step {
    single_stack!(Gpt: NanoGpt);
    struct Config;
    impl Gpt2Config for Config {
        type VocabSize = VocabSize;
        type MaxSeqLen = MaxSeqLen;
        type EmbedDim = EmbedDim;
        type NumHeads = NumHeads;
        type HiddenDim = HiddenDim;
        type NumLayers = NumLayers;
        const NORM_EPSILON: f64 = 1e-5;
    }
    published_step::<Config, P, Batch, MaxSeqLen>(decoder_work::<Gpt, Batch, MaxSeqLen>())
}
