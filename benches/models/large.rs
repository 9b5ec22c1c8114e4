//! Larger models that are measured: long sequences, GPT-2 small, BERT and T5, with a closure that makes one training step,
//! one forward pass, or the decoding of one text.

use crate::models::work::{Forward, Work, causal};
use crate::models::{Step, decoder_step, decoder_work, ids, labels, nano_gpt_optimizer, published_step};
use dfdx::{nn::TensorCollection, tensor::AutoDevice};
use typed_transformer::generate::{Sampler, generate_from_prompt};
use typed_transformer::models::llama::{Llama, LlamaConfig, Norms};
use typed_transformer::models::nano_gpt::NanoGpt;
use typed_transformer::models::published::{gpt2, qwen3_0_6b, smol_lm_135m, t5_small};
use typed_transformer::nn::{Autoregressive, Module, Precision, Trainable};
use typed_transformer::ops::Rotary;
use typed_transformer::prelude::*;
use typed_transformer::train::{AdamW, update};
use typed_transformer::weights::{self, Loadable};

/// Greedy decoding of `Len` tokens in all after each prompt, with a cache of keys and values. `Trained` is the model in
/// `f32`. A parameter of `Model` has `bytes_per_param`.
fn decoding<Trained, Model, Batch, Prompt, Len, D: Backend<f32>>(device: D, bytes_per_param: f64) -> Step
where
    Trained: Module + TensorCollection<f32, D, To<f32, D> = Trained>,
    Model: Module + Loadable<f32, D> + Autoregressive<Batch, f32, D> + 'static,
    Batch: ConstDim,
    Prompt: ConstDim + AtMost<Model::MaxSeqLen>,
    Len: ConstDim + AtMost<Model::MaxSeqLen>,
{
    // As a user has it, from a file.
    let file = tempfile::NamedTempFile::new().unwrap();
    weights::save(&Trained::build(&device), &file).unwrap();
    let model: Model = weights::load(&file, &device).unwrap();
    // Linux: the peak memory is from now on.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let prompts = ids::<Batch, Prompt, Model::VocabSize>(1);
    let decode = move || {
        let _ = generate_from_prompt(&model, &prompts, None, Len::default(), &mut Sampler::greedy()).unwrap();
    };
    let work = Work::decoding(Model::NUM_PARAMS, bytes_per_param, Len::SIZE - Prompt::SIZE);
    Step { params: Model::NUM_PARAMS, work, run: Box::new(decode) }
}

/// nanoGPT's configuration for a CPU, decoding 240 tokens after a prompt of 16.
pub fn decode_gpt() -> Step {
    dims! { VocabSize = 65; MaxSeqLen = 256; EmbedDim = 128; NumHeads = 4; HeadDim = 32; NumLayers = 4; PromptLen = 16; }
    single_stack!(Gpt: NanoGpt);
    type Model = DecoderOnly<Gpt, f32, AutoDevice>;
    decoding::<Model, Model, Const<1>, PromptLen, MaxSeqLen, _>(AutoDevice::default(), 4.0)
}

/// One sequence of 1,024 tokens.
pub fn length_1024() -> Step {
    dims! { VocabSize = 65; MaxSeqLen = 1024; EmbedDim = 256; NumHeads = 8; HeadDim = 32; NumLayers = 4; Batch = 1; }
    single_stack!(Gpt: NanoGpt);
    decoder_step::<Gpt, Batch, MaxSeqLen>()
}

/// One sequence of 4,096 tokens.
pub fn length_4096() -> Step {
    dims! { VocabSize = 65; MaxSeqLen = 4096; EmbedDim = 128; NumHeads = 4; HeadDim = 32; NumLayers = 2; Batch = 1; }
    single_stack!(Gpt: NanoGpt);
    decoder_step::<Gpt, Batch, MaxSeqLen>()
}

dims! { VocabSize = 50257; MaxSeqLen = 1024; EmbedDim = 768; NumHeads = 12; HeadDim = 64; NumLayers = 12; }
single_stack!(Gpt2: NanoGpt);

/// GPT-2 small, one sequence of 128 tokens.
pub fn gpt2() -> Step {
    decoder_step::<Gpt2, Const<1>, Const<128>>()
}

/// GPT-2 small with its biases, one sequence of 128 tokens, in the precision `P`.
pub fn gpt2_published<P: Trainable>() -> Step {
    published_step::<gpt2::Config, P, Const<1>, Const<128>>(decoder_work::<Gpt2, Const<1>, Const<128>>())
}

/// GPT-2 small with its biases and weights in `P`, decoding 128 tokens after each prompt of 16, always on the CPU.
pub fn decode_gpt2<P: Precision, const BATCH: usize>(bytes_per_param: f64) -> Step {
    type Trained = gpt2::Model<f32, Cpu>;
    let device = Cpu::default();
    decoding::<Trained, gpt2::Model<f32, Cpu, P>, Const<BATCH>, Const<16>, Const<144>, _>(device, bytes_per_param)
}

/// SmolLM, a Llama of 135 million parameters, decoding 128 tokens after a prompt of 16.
pub fn decode_smollm() -> Step {
    type Model = smol_lm_135m::Model<f32, AutoDevice>;
    decoding::<Model, Model, Const<1>, Const<16>, Const<144>, _>(AutoDevice::default(), 4.0)
}

/// The forward pass of a BERT with 6 layers of width 384.
pub fn bert_forward() -> Step {
    dims! {
        VocabSize = 30522; MaxSeqLen = 512; EmbedDim = 384; NumHeads = 12; HeadDim = 32; NumLayers = 6;
        Batch = 3; SeqLen = 24;
    }
    single_stack!(Bert: TypedTransformer);
    let model = EncoderOnly::<Bert, f32, AutoDevice>::build(&AutoDevice::default());
    let inputs = ids::<Batch, SeqLen, VocabSize>(1);
    let forward = move || {
        let _ = model.forward(&inputs, NoneTape).unwrap();
    };
    let [rows, scores] = [Batch::SIZE * SeqLen::SIZE, Batch::SIZE * SeqLen::SIZE * SeqLen::SIZE];
    let work = Forward::layer::<Bert, EmbedDim>(rows, scores).repeated(NumLayers::SIZE).alone();
    Step { params: EncoderOnly::<Bert, f32, AutoDevice>::NUM_PARAMS, work, run: Box::new(forward) }
}

/// T5-small, with `LEN` tokens in each source and in each target.
pub fn t5<const BATCH: usize, const LEN: usize>() -> Step {
    let mut model = t5_small::Model::<f32, AutoDevice>::build(&AutoDevice::default());
    let mut optimizer = AdamW::default();
    let [source, inputs] = [1, 2].map(ids::<Const<BATCH>, Const<LEN>, t5_small::VocabSize>);
    let labels = labels(3);
    let step = move || {
        let logits = model.forward(&source, &inputs, model.recording()).unwrap();
        let loss = cross_entropy(logits, &labels, Reduction::MeanAll).unwrap();
        update(&mut model, loss.backward().unwrap(), &mut optimizer, 1e-3, 1.0).unwrap();
    };
    let params = t5_small::Model::<f32, AutoDevice>::NUM_PARAMS;
    Step { params, work: t5_work(BATCH, LEN).training(params), run: Box::new(step) }
}

/// The forward pass of [`t5`].
pub fn t5_forward<const BATCH: usize, const LEN: usize>() -> Step {
    let model = t5_small::Model::<f32, AutoDevice>::build(&AutoDevice::default());
    let [source, inputs] = [1, 2].map(ids::<Const<BATCH>, Const<LEN>, t5_small::VocabSize>);
    let forward = move || {
        let _ = model.forward(&source, &inputs, NoneTape).unwrap();
    };
    Step {
        params: t5_small::Model::<f32, AutoDevice>::NUM_PARAMS,
        work: t5_work(BATCH, LEN).alone(),
        run: Box::new(forward),
    }
}

fn t5_work(batch: usize, len: usize) -> Forward {
    use t5_small::*;
    let (rows, width) = (batch * len, NumHeads::SIZE * HeadDim::SIZE);
    let attention = |scores| Forward::linear(rows, EmbedDim::SIZE, 4 * width) + Forward::attention(scores, width);
    let feed_forward = Forward::linear(rows, EmbedDim::SIZE, 2 * HiddenDim::SIZE);
    let full = attention(rows * len);
    (full + feed_forward).repeated(NumEncoderLayers::SIZE)
        + (full + attention(causal(batch, len)) + feed_forward).repeated(NumDecoderLayers::SIZE)
        + Forward::linear(rows, EmbedDim::SIZE, VocabSize::SIZE)
}

/// SmolLM-135M, one sequence of 128 tokens.
pub fn llama() -> Step {
    llama_step::<smol_lm_135m::Config>()
}

/// Four layers of the size of those of Qwen3-0.6B, one sequence of 128 tokens.
pub fn qwen3() -> Step {
    dims! { VocabSize = 8192; NumLayers = 4; }
    struct Config;
    impl LlamaConfig for Config {
        type VocabSize = VocabSize;
        type MaxSeqLen = qwen3_0_6b::MaxSeqLen;
        type EmbedDim = qwen3_0_6b::EmbedDim;
        type HiddenDim = qwen3_0_6b::HiddenDim;
        type NumLayers = NumLayers;
        type NumHeads = qwen3_0_6b::NumHeads;
        type NumKeyValueHeads = qwen3_0_6b::NumKeyValueHeads;
        type HeadDim = qwen3_0_6b::HeadDim;
        const NORM_EPSILON: f64 = 1e-6;
        const ROTARY: Rotary = Rotary::halves(1_000_000.0);
        const TIED_LOGITS: bool = true;
        const NORMS: Norms = Norms::BeforeAndInHeads;
    }
    llama_step::<Config>()
}

/// A training step with one sequence of 128 tokens, with nanoGPT's optimizer.
fn llama_step<Config: LlamaConfig>() -> Step
where
    Const<128>: AtMost<Config::MaxSeqLen>,
{
    let mut model = Llama::<Config, f32, AutoDevice>::build(&AutoDevice::default());
    let (inputs, labels) = (ids::<Const<1>, Const<128>, Config::VocabSize>(1), labels(2));
    let mut adam = nano_gpt_optimizer();
    let step = move || {
        let logits = model.forward(&inputs, model.recording()).unwrap();
        let loss = cross_entropy(logits, &labels, Reduction::MeanAll).unwrap();
        update(&mut model, loss.backward().unwrap(), &mut adam, 1e-3, 1.0).unwrap();
    };
    let params = Llama::<Config, f32, AutoDevice>::NUM_PARAMS;
    // The table of the tokens is the weight of the logits: each parameter multiplies each row once.
    let forward = Forward::linear(128, params, 1)
        + Forward::attention(causal(1, 128), Config::NumHeads::SIZE * Config::HeadDim::SIZE)
            .repeated(Config::NumLayers::SIZE);
    Step { params, work: forward.training(params), run: Box::new(step) }
}
