//! Continues a prompt with a published model, from a folder as HuggingFace's `transformers` saves it. The text streams
//! to standard output. `cargo run --features tokenizers --example generate -- --help` lists the options;
//! `examples/README.md` explains them.

mod cli;
#[path = "../support/mod.rs"]
mod support;

use cli::{Cli, ModelName, Weights};
use std::{
    process::{self, ExitCode},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};
use support::{BoxError, DeviceName, EXIT_SIGINT, cuda, log, parse, stop_on_signals, stream};
use typed_transformer::{
    generate::Generation,
    models::published::{
        gemma_3_270m, gpt2, gpt2_medium, llama_3_2_1b, mixtral_8x7b, olmo_2_1b, qwen3_0_6b, smol_lm_135m, tiny_gpt2,
        tiny_llama_1_1b,
    },
    nn::{Autoregressive, Bf16, FullPrecision, Precision, Q8},
    prelude::*,
    tokens::Tokenizer,
    weights::{Loadable, Pretrained, eos_token_ids, load_pretrained},
};

dims! { Batch = 1; Prompt; }

/// Reads the model from the folder, and writes its text.
fn run<Model, D>(cli: &Cli, device: &D) -> Result<(), BoxError>
where
    Model: Pretrained + Autoregressive<Batch, f32, D> + Loadable<f32, D>,
    D: Backend<f32>,
{
    let mut sampler = cli.sampler()?;
    let start = Instant::now();
    let model: Model = load_pretrained(&cli.folder, device)?;
    let tokenizer = Tokenizer::<Model::VocabSize>::from_file(cli.folder.join("tokenizer.json"))?;
    let prompt = tokenizer.encode(&cli.prompt).map_err(|error| format!("--prompt: {error}"))?;
    let ids: Vec<usize> = prompt.iter().map(|token| token.value()).collect();
    let ids = TokenIds::from_ids(&ids, None, (Batch, Prompt::new(ids.len())))
        .map_err(|error| format!("--prompt: {error}"))?;
    let ends = eos_token_ids::<Model::VocabSize>(&cli.folder)?;
    log(&format!("{} parameters in {:.1} s", Model::NUM_PARAMS, start.elapsed().as_secs_f64()));

    let stop = Arc::new(AtomicBool::new(false));
    stop_on_signals(stop.clone())?;
    let start = Instant::now();
    let generation = Generation::new(&model, &ids, ends, &mut sampler)?;
    log(&format!("{} tokens of the prompt in {:.2} s", prompt.len(), start.elapsed().as_secs_f64()));

    // The text of a token depends on the one before it: some tokenizers write a space only between two words.
    let mut text = tokenizer.stream();
    for &token in &prompt {
        text.push(token)?;
    }
    let mut count = 0;
    let mut first_token = None;
    let mut is_read = stream(&cli.prompt)?;
    for tokens in generation.take(cli.tokens) {
        for token in tokens?.into_iter().flatten() {
            is_read &= stream(&text.push(token)?)?;
            count += 1;
            first_token.get_or_insert_with(Instant::now);
        }
        if !is_read || stop.load(Ordering::Relaxed) {
            break;
        }
    }
    stream(&format!("{}\n", text.finish()?))?;
    // The first token comes from the reading of the prompt.
    if let (Some(start), 2..) = (first_token, count) {
        let speed = f64::from(count - 1) / start.elapsed().as_secs_f64();
        log(&format!("{count} tokens, {speed:.1} tokens/s after the first"));
    }
    if stop.load(Ordering::Relaxed) {
        process::exit(EXIT_SIGINT.into());
    }
    Ok(())
}

fn run_on<D: Backend<f32>, P: Precision>(cli: &Cli, device: &D) -> Result<(), BoxError> {
    match cli.model {
        ModelName::Gpt2 => run::<gpt2::Model<f32, D, P>, D>(cli, device),
        ModelName::Gpt2Medium => run::<gpt2_medium::Model<f32, D, P>, D>(cli, device),
        ModelName::TinyGpt2 => run::<tiny_gpt2::Model<f32, D, P>, D>(cli, device),
        ModelName::SmolLm => run::<smol_lm_135m::Model<f32, D, P>, D>(cli, device),
        ModelName::TinyLlama => run::<tiny_llama_1_1b::Model<f32, D, P>, D>(cli, device),
        ModelName::Llama => run::<llama_3_2_1b::Model<f32, D, P>, D>(cli, device),
        ModelName::Qwen3 => run::<qwen3_0_6b::Model<f32, D, P>, D>(cli, device),
        ModelName::Olmo2 => run::<olmo_2_1b::Model<f32, D, P>, D>(cli, device),
        ModelName::Gemma3 => run::<gemma_3_270m::Model<f32, D, P>, D>(cli, device),
        ModelName::Mixtral => run::<mixtral_8x7b::Model<f32, D, P>, D>(cli, device),
    }
}

fn main() -> ExitCode {
    let cli: Cli = parse();
    support::exit_code(match (cli.device, cli.weights) {
        (DeviceName::Cpu, Weights::F32) => run_on::<_, FullPrecision>(&cli, &Cpu::default()),
        (DeviceName::Cpu, Weights::Bf16) => run_on::<_, Bf16>(&cli, &Cpu::default()),
        (DeviceName::Cpu, Weights::Q8) => run_on::<_, Q8>(&cli, &Cpu::default()),
        (DeviceName::Cuda, Weights::F32) => cuda(cli.seed).and_then(|gpu| run_on::<_, FullPrecision>(&cli, &gpu)),
        (DeviceName::Cuda, _) => Err("the weights on a GPU are f32: --weights needs --device cpu".into()),
    })
}
