//! Two variants of nanoGPT's configuration for a CPU: with dropout, and as a published model.

use crate::models::{Step, decoder_step, gpt, ids, labels, nano_gpt_optimizer};
use dfdx::tensor::AutoDevice;
use typed_transformer::models::gpt2::{Gpt2, Gpt2Config};
use typed_transformer::models::nano_gpt::NanoGpt;
use typed_transformer::nn::Module;
use typed_transformer::prelude::*;
use typed_transformer::train::update;

dims! {
    VocabSize = 65; MaxSeqLen = 64; EmbedDim = 128; NumHeads = 4; HeadDim = 32; HiddenDim = 512; NumLayers = 4; Batch = 12;
}

/// With dropout of a tenth: of the embeddings, of the attention weights and of each sublayer's output.
pub fn gpt_dropout() -> Step {
    single_stack!(Gpt: NanoGpt, dropout 0.1);
    decoder_step::<Gpt, Batch, MaxSeqLen>()
}

/// As a [`Gpt2`], which has biases.
pub fn gpt_published() -> Step {
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
    let mut model = Gpt2::<Config, f32, AutoDevice>::build(&AutoDevice::default());
    let (inputs, labels) = (ids::<Batch, MaxSeqLen, VocabSize>(1), labels(2));
    let mut optimizer = nano_gpt_optimizer();
    let step = move || {
        let logits = model.forward(&inputs, model.recording()).unwrap();
        let loss = cross_entropy(logits, &labels, Reduction::MeanAll).unwrap();
        update(&mut model, loss.backward().unwrap(), &mut optimizer, 1e-3, 1.0).unwrap();
    };
    Step { params: Gpt2::<Config, f32, AutoDevice>::NUM_PARAMS, work: gpt().work, run: Box::new(step) }
}
