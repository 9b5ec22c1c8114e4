//! Continues prompts with a published model, from a folder as HuggingFace's `transformers` saves it. The text streams
//! to standard output. `cargo run --features tokenizers --example generate -- --help` lists the options;
//! `examples/README.md` explains them.

mod cli;
mod inputs;
#[path = "../support/mod.rs"]
mod support;

use cli::{Cli, ModelName, Weights};
use inputs::{Inputs, Text};
use std::{
    path::Path,
    process::{self, ExitCode},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};
use support::{BoxError, DeviceName, EXIT_SIGINT, cuda, log, parse, stop_on_signals};
use typed_transformer::{
    generate::{Generation, SameVocabulary, Speculation, beam_search},
    models::published::{
        gemma_3_270m, gpt2, gpt2_medium, llama_3_2_1b, mixtral_8x7b, olmo_2_1b, qwen3_0_6b, qwen3_1_7b, smol_lm_135m,
        tiny_gpt2, tiny_llama_1_1b,
    },
    nn::{Autoregressive, Bf16, EditableCache, FullPrecision, Precision, Q8},
    prelude::*,
    weights::{Loadable, Pretrained, ensure_config, load_pretrained},
};

dims! { Batch; Prompt; }

/// Logs how many tokens were written, and how fast.
struct Speed {
    count: u32,
    first_token: Option<Instant>,
}

impl Speed {
    fn add(&mut self, count: u32) {
        self.count += count;
        self.first_token.get_or_insert_with(Instant::now);
    }

    fn log(&self) {
        // The first token comes from the pass that reads the prompt, so the speed leaves it out.
        if let (Some(start), 2..) = (self.first_token, self.count) {
            let speed = f64::from(self.count - 1) / start.elapsed().as_secs_f64();
            log(&format!("{} tokens, {speed:.1} tokens/s after the first", self.count));
        }
    }
}

fn load<Model: Pretrained + Loadable<f32, D>, D: Backend<f32>>(folder: &Path, device: &D) -> Result<Model, BoxError> {
    let start = Instant::now();
    let model = load_pretrained(folder, device)?;
    log(&format!("{} parameters in {:.1} s", Model::NUM_PARAMS, start.elapsed().as_secs_f64()));
    Ok(model)
}

/// Reads the model from the folder, and writes its texts.
fn run<Model, D>(cli: &Cli, device: &D) -> Result<(), BoxError>
where
    Model: Pretrained + Autoregressive<Batch, f32, D, Cache: EditableCache<Batch>> + Loadable<f32, D>,
    D: Backend<f32>,
{
    if cli.draft.is_some() {
        return Err("--draft: there is no smaller model of the vocabulary of this one".into());
    }
    cli.sampler::<Model::VocabSize>()?;
    ensure_config::<Model>(&cli.folder)?;
    let inputs = Inputs::<Model::VocabSize>::read(cli, Model::MaxSeqLen::SIZE)?;
    let model: Model = load(&cli.folder, device)?;
    let stop = Arc::new(AtomicBool::new(false));
    if let Some(num_beams) = cli.num_beams {
        return search(cli, &model, &inputs, Batch::new(num_beams));
    }
    stop_on_signals(stop.clone())?;
    write(cli, &model, &inputs, &stop)?;
    end(&stop)
}

/// Writes the texts together, token by token.
fn write<Model: Autoregressive<Batch, f32, D>, D: Backend<f32>>(
    cli: &Cli,
    model: &Model,
    inputs: &Inputs<Model::VocabSize>,
    stop: &AtomicBool,
) -> Result<(), BoxError> {
    let Inputs { tokenizer, prompts, ends } = inputs;
    let mut sampler = cli.sampler()?.restrict_to(tokenizer.tokens());
    let is_in_prompts = |token: &Fin<_>| prompts.iter().flatten().any(|other| other == token);
    let pad = Fin::all().find(|token| !is_in_prompts(token)).ok_or("--prompt: it has all tokens")?;
    let lens = prompts.iter().map(Vec::len);
    let (shortest, longest) = (lens.clone().min().unwrap_or(0), lens.max().unwrap_or(0));
    let ids = TokenIds::padded(prompts, pad, (Batch::new(prompts.len()), Prompt::new(longest)))
        .map_err(|error| format!("--prompt: {error}"))?;
    let start = Instant::now();
    let mut generation = Generation::new(model, &ids, ends.iter().copied(), &mut sampler)?.max_new_tokens(cli.tokens);
    log(&format!("{shortest} tokens of each prompt in {:.2} s", start.elapsed().as_secs_f64()));
    let mut texts = inputs.texts(cli)?;
    let mut speed = Speed { count: 0, first_token: None };
    while let Some(tokens) = generation.next() {
        for (row, (text, token)) in texts.iter_mut().zip(tokens?).enumerate() {
            let Some(token) = token else { continue };
            speed.add(1);
            if !text.push(token)? {
                generation.end_text(row)?;
            }
        }
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    texts.into_iter().try_for_each(Text::finish)?;
    speed.log();
    Ok(())
}

/// Looks for the most likely text of each prompt.
fn search<Model: Autoregressive<Batch, f32, D, Cache: EditableCache<Batch>>, D: Backend<f32>>(
    cli: &Cli,
    model: &Model,
    inputs: &Inputs<Model::VocabSize>,
    beams: Batch,
) -> Result<(), BoxError> {
    for (prompt, mut text) in inputs.prompts.iter().zip(inputs.texts(cli)?) {
        let ids = TokenIds::from_rows(&[prompt], (Const::<1>, Prompt::new(prompt.len())))?;
        let found = beam_search(model, &ids, beams, inputs.ends.iter().copied(), cli.tokens, cli.beam_options())?;
        for &token in found.first().into_iter().flat_map(|beam| &beam.tokens) {
            text.push(token)?;
        }
        text.finish()?;
    }
    Ok(())
}

/// Writes a text that a smaller model proposes and the model checks.
fn run_with_draft<Model, Draft, D>(cli: &Cli, device: &D) -> Result<(), BoxError>
where
    Model: Pretrained + Loadable<f32, D>,
    Model: Autoregressive<Const<1>, f32, D, Cache: EditableCache<Const<1>>>,
    Model: Autoregressive<Batch, f32, D, Cache: EditableCache<Batch>>,
    Draft: Pretrained + Loadable<f32, D>,
    Draft: Autoregressive<Const<1>, f32, D, Cache: EditableCache<Const<1>>>,
    <Draft as Autoregressive<Const<1>, f32, D>>::VocabSize:
        SameVocabulary<<Model as Autoregressive<Const<1>, f32, D>>::VocabSize>,
    D: Backend<f32>,
{
    let Some(draft) = &cli.draft else { return run::<Model, D>(cli, device) };
    let sampler = cli.sampler()?;
    ensure_config::<Model>(&cli.folder)?;
    ensure_config::<Draft>(draft)?;
    let inputs = Inputs::read(cli, <Model as Autoregressive<Const<1>, f32, D>>::MaxSeqLen::SIZE)?;
    let [prompt] = &inputs.prompts[..] else { return Err("--draft: there is more than one prompt".into()) };
    let (model, draft): (Model, Draft) = (load(&cli.folder, device)?, load(draft, device)?);
    let ids = TokenIds::from_rows(&[prompt], (Const::<1>, Prompt::new(prompt.len())))?;
    let stop = Arc::new(AtomicBool::new(false));
    stop_on_signals(stop.clone())?;
    let mut sampler = sampler.restrict_to(inputs.tokenizer.tokens());
    let ends = inputs.ends.iter().copied();
    let mut tokens = Speculation::new(&model, &draft, &ids, ends, cli.draft_tokens, &mut sampler)?;
    let mut speed = Speed { count: 0, first_token: None };
    for mut text in inputs.texts(cli)? {
        for token in tokens.by_ref().take(cli.tokens) {
            speed.add(1);
            if !text.push(token?)? || stop.load(Ordering::Relaxed) {
                break;
            }
        }
        text.finish()?;
    }
    speed.log();
    if let Some(acceptance) = tokens.acceptance() {
        log(&format!("{:.0} % of the proposals were accepted", 100.0 * acceptance));
    }
    end(&stop)
}

/// Ends the program if a signal stopped it.
fn end(stop: &AtomicBool) -> Result<(), BoxError> {
    if stop.load(Ordering::Relaxed) {
        process::exit(EXIT_SIGINT.into());
    }
    Ok(())
}

fn run_on<D: Backend<f32>, P: Precision>(cli: &Cli, device: &D) -> Result<(), BoxError> {
    match cli.model {
        ModelName::Gpt2 => run::<gpt2::Model<f32, D, P>, D>(cli, device),
        ModelName::Gpt2Medium => {
            run_with_draft::<gpt2_medium::Model<f32, D, P>, gpt2::Model<f32, D, P>, D>(cli, device)
        }
        ModelName::TinyGpt2 => {
            run_with_draft::<tiny_gpt2::Model<f32, D, P>, tiny_gpt2::Model<f32, D, P>, D>(cli, device)
        }
        ModelName::SmolLm => run::<smol_lm_135m::Model<f32, D, P>, D>(cli, device),
        ModelName::TinyLlama => run::<tiny_llama_1_1b::Model<f32, D, P>, D>(cli, device),
        ModelName::Llama => run::<llama_3_2_1b::Model<f32, D, P>, D>(cli, device),
        ModelName::Qwen3 => run::<qwen3_0_6b::Model<f32, D, P>, D>(cli, device),
        ModelName::LargerQwen3 => {
            run_with_draft::<qwen3_1_7b::Model<f32, D, P>, qwen3_0_6b::Model<f32, D, P>, D>(cli, device)
        }
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
