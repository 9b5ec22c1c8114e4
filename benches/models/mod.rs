//! Models that are measured, each with its training step. `large.rs` has larger models.

use dfdx::tensor::*;
use typed_transformer::models::another_annotated::Annotated;
use typed_transformer::models::gpt2::{Gpt2, Gpt2Config};
use typed_transformer::models::nano_gpt::NanoGpt;
use typed_transformer::nn::{Module, Trainable};
use typed_transformer::prelude::*;
use typed_transformer::train::{Adam, AdamW, Optimizer, Sgd, update};

pub mod work;

use work::{Forward, Work, causal};

/// A step of a model.
pub struct Step {
    /// The number of the model's parameters.
    pub params: usize,
    /// What a step cannot do without.
    pub work: Work,
    pub run: Box<dyn FnMut()>,
}

/// Pseudo-random ids, without the last two of the vocabulary.
pub fn ids<Batch: ConstDim, Len: ConstDim, Vocab: ConstDim>(seed: usize) -> TokenIds<Batch, Len, Vocab> {
    let next = |i: usize| (i + seed).wrapping_mul(2_654_435_761) / 65_536 % (Vocab::SIZE - 2);
    let ids: Vec<usize> = (0..Batch::SIZE * Len::SIZE).map(next).collect();
    TokenIds::from_ids(&ids, None, (Batch::default(), Len::default())).unwrap()
}

/// Pseudo-random labels.
pub fn labels<Batch: ConstDim, Len: ConstDim, Vocab: ConstDim>(seed: usize) -> LabelIds<Batch, Len, Vocab> {
    LabelIds::from(ids(seed))
}

/// The training step of an encoder-decoder.
fn seq2seq_step<M, Batch, Src, Tgt>(
    mut optimizer: impl Optimizer<LM<M, f32, AutoDevice>, f32, AutoDevice> + 'static,
    rate: f64,
) -> Step
where
    M: Seq2Seq,
    Batch: ConstDim,
    Src: ConstDim + AtMost<M::MaxSrcLen>,
    Tgt: ConstDim + AtMost<M::MaxTgtLen>,
{
    let mut model = LM::<M, f32, AutoDevice>::build(&AutoDevice::default());
    let source = ids::<Batch, Src, M::SrcVocab>(1);
    let (inputs, labels) = (ids::<Batch, Tgt, M::TgtVocab>(2), labels(3));
    let step = move || {
        let output = model.forward(&source, &inputs, model.recording()).unwrap();
        let loss = cross_entropy(output.logit_output, &labels, Reduction::MeanAll).unwrap();
        update(&mut model, loss.backward().unwrap(), &mut optimizer, rate, 1.0).unwrap();
    };
    let [sources, targets] = [Batch::SIZE * Src::SIZE, Batch::SIZE * Tgt::SIZE];
    let width = M::NumHeads::SIZE * M::QKDim::SIZE;
    // Cross-attention: queries and outputs of the targets, keys and values of the sources.
    let cross = Forward::linear(2 * (sources + targets), M::EmbedDim::SIZE, width)
        + Forward::attention(Batch::SIZE * Src::SIZE * Tgt::SIZE, width);
    let encoder = Forward::layer::<M, M::EmbedDim>(sources, Batch::SIZE * Src::SIZE * Src::SIZE);
    let decoder = Forward::layer::<M, M::EmbedDim>(targets, causal(Batch::SIZE, Tgt::SIZE)) + cross;
    let forward = encoder.repeated(M::NumEncoderLayers::SIZE)
        + decoder.repeated(M::NumDecoderLayers::SIZE)
        + Forward::linear(targets, M::EmbedDim::SIZE, M::TgtVocab::SIZE);
    let params = LM::<M, f32, AutoDevice>::NUM_PARAMS;
    Step { params, work: forward.training(params), run: Box::new(step) }
}

/// The encoder-decoder of *Another annotated transformer*.
pub fn rot13() -> Step {
    dims! {
        VocabSize = 28; MaxSeqLen = 15; EmbedDim = 8; NumHeads = 7; HeadDim = 5; HiddenDim = 5;
        NumLayers = 1; SeqLen = 15; Batch = 50;
    }
    struct Rot13;
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
        type NumEncoderLayers = NumLayers;
        type NumDecoderLayers = NumLayers;
    }
    seq2seq_step::<Rot13, Batch, SeqLen, SeqLen>(Sgd::default(), 0.5)
}

/// The encoder-decoder of *The Typed Transformer*.
pub fn typed() -> Step {
    dims! {
        VocabSize = 128; MaxSeqLen = 16; EmbedDim = 128; NumHeads = 2; HeadDim = 64; HiddenDim = 512;
        NumLayers = 4; SrcLen = 16; TgtLen = 2; Batch = 256;
    }
    struct Typed;
    impl Arch for Typed {
        type NumHeads = NumHeads;
        type QKDim = HeadDim;
        type VODim = HeadDim;
        type HiddenDim = HiddenDim;
        type Conventions = TypedTransformer;
    }
    impl Seq2Seq for Typed {
        type SrcVocab = VocabSize;
        type TgtVocab = VocabSize;
        type MaxSrcLen = MaxSeqLen;
        type MaxTgtLen = MaxSeqLen;
        type EmbedDim = EmbedDim;
        type NumEncoderLayers = NumLayers;
        type NumDecoderLayers = NumLayers;
    }
    seq2seq_step::<Typed, Batch, SrcLen, TgtLen>(Adam::default(), 1e-3)
}

/// The training step of a decoder-only model, with nanoGPT's optimizer.
pub fn decoder_step<Config, Batch, Len>() -> Step
where
    Config: SingleStack,
    Batch: ConstDim,
    Len: ConstDim + AtMost<Config::MaxSeqLen>,
{
    let mut model = DecoderOnly::<Config, f32, AutoDevice>::build(&AutoDevice::default());
    let (inputs, labels) = (ids::<Batch, Len, Config::VocabSize>(1), labels(2));
    let mut adam = nano_gpt_optimizer();
    let step = move || {
        let logits = model.forward(&inputs, model.recording()).unwrap();
        let loss = cross_entropy(logits, &labels, Reduction::MeanAll).unwrap();
        update(&mut model, loss.backward().unwrap(), &mut adam, 1e-3, 1.0).unwrap();
    };
    let params = DecoderOnly::<Config, f32, AutoDevice>::NUM_PARAMS;
    Step { params, work: decoder_work::<Config, Batch, Len>(), run: Box::new(step) }
}

/// The work of one training step of a decoder.
pub fn decoder_work<Config: SingleStack, Batch: ConstDim, Len: ConstDim>() -> Work {
    let rows = Batch::SIZE * Len::SIZE;
    let layer = Forward::layer::<Config, Config::EmbedDim>(rows, causal(Batch::SIZE, Len::SIZE));
    let forward = layer.repeated(Config::NumLayers::SIZE)
        + Forward::linear(rows, Config::EmbedDim::SIZE, Config::VocabSize::SIZE);
    forward.training(DecoderOnly::<Config, f32, AutoDevice>::NUM_PARAMS)
}

/// A training step of a [`Gpt2`] in the precision `P`.
pub fn published_step<Config, P, Batch, Len>(work: Work) -> Step
where
    Config: Gpt2Config,
    P: Trainable,
    Batch: ConstDim,
    Len: ConstDim + AtMost<Config::MaxSeqLen>,
{
    let mut model = Gpt2::<Config, f32, AutoDevice, P>::build(&AutoDevice::default());
    let (inputs, labels) = (ids::<Batch, Len, Config::VocabSize>(1), labels(2));
    let mut optimizer = nano_gpt_optimizer();
    let step = move || {
        let logits = model.forward(&inputs, model.recording()).unwrap();
        let loss = cross_entropy(logits, &labels, Reduction::MeanAll).unwrap();
        update(&mut model, loss.backward().unwrap(), &mut optimizer, 1e-3, 1.0).unwrap();
    };
    Step { params: Gpt2::<Config, f32, AutoDevice>::NUM_PARAMS, work, run: Box::new(step) }
}

pub fn nano_gpt_optimizer<Model>() -> AdamW<Model, f32, AutoDevice> {
    let mut adam = AdamW::default();
    adam.adam.beta2 = 0.99;
    adam.weight_decay = 0.1;
    adam
}

/// A configuration of a model with one stack of layers.
macro_rules! single_stack {
    ($name:ident: $conventions:ty $(, dropout $rate:literal)?) => {
        struct $name;
        impl Arch for $name {
            type NumHeads = NumHeads;
            type QKDim = HeadDim;
            type VODim = HeadDim;
            type HiddenDim = Product<Const<4>, EmbedDim>;
            type Conventions = $conventions;
            $(
                const ATTENTION_DROPOUT: f64 = $rate;
                const DROPOUT: f64 = $rate;
                const FEED_FORWARD_DROPOUT: f64 = $rate;
            )?
        }
        impl SingleStack for $name {
            type VocabSize = VocabSize;
            type MaxSeqLen = MaxSeqLen;
            type EmbedDim = EmbedDim;
            type NumLayers = NumLayers;
        }
    };
}

/// nanoGPT's configuration for a CPU.
pub fn gpt() -> Step {
    dims! { VocabSize = 65; MaxSeqLen = 64; EmbedDim = 128; NumHeads = 4; HeadDim = 32; NumLayers = 4; Batch = 12; }
    single_stack!(Gpt: NanoGpt);
    decoder_step::<Gpt, Batch, MaxSeqLen>()
}
