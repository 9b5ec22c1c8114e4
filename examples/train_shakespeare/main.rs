//! A decoder-only model of characters, trained on the plays of Shakespeare or another text, by
//! [nanoGPT](https://github.com/karpathy/nanoGPT)'s configuration for a CPU.
//!
//! ```text
//! cargo run --example train_shakespeare
//! cargo run --example train_shakespeare -- --data FILE --save weights.safetensors
//! cargo run --example train_shakespeare -- --load weights.safetensors --prompt ROMEO
//! cargo run --example train_shakespeare -- --resume train_shakespeare.checkpoint   # after a Ctrl-C
//! ```
//!
//! `--report DIR` draws the training and what the model looks at in a line.
//!
//! # A vocabulary that is known only at run time
//!
//! How many characters a text uses is known when it is read; the model wants it in its type. So the
//! model is typed by the most characters that it has room for, `VocabSize`, and
//! [`CharTokenizer`](typed_transformer::tokens::CharTokenizer) proves that a text has no more: a text with
//! more is refused, with both sizes. What is left of the vocabulary stands for nothing, the model
//! learns that it never comes, and it is never sampled. Weights are saved with their characters.

mod cli;
mod model;
#[cfg(feature = "plot")]
mod pictures;
mod sample;
#[path = "../support/mod.rs"]
mod support;
mod text;
mod training;

use clap::Parser;
use cli::Cli;
use dfdx::tensor::Cpu;
use model::{Model, VocabSize};
use std::{collections::HashMap, path::Path, process::ExitCode};
use support::{DeviceName, Failure, cuda, print, say};
use text::Text;
use typed_transformer::{backend::Backend, tokens::CharTokenizer, weights};

/// Under what name a file of weights has the characters.
const CHARACTERS: &str = "characters";

fn main() -> ExitCode {
    let cli = Cli::parse();
    support::status(match cli.device {
        DeviceName::Cpu => run(&cli, &Cpu::seed_from_u64(cli.seed)),
        DeviceName::Cuda => cuda(cli.seed).map_err(Failure::from).and_then(|gpu| run(&cli, &gpu)),
    })
}

fn run<D: Backend<f32>>(cli: &Cli, device: &D) -> Result<ExitCode, Failure> {
    // Whatever can be wrong with what the user gave is said before anything is trained.
    let sampler = cli.sampler()?;
    let (model, characters, prompt);
    #[cfg(feature = "plot")]
    let mut report = cli.files.report("CharTokenizer of a text")?;
    match &cli.load {
        Some(path) => {
            (model, characters) = load(path, device)?;
            prompt = cli.prompt(&characters)?;
        }
        None => {
            let text = Text::read(cli.data.as_deref())?;
            prompt = cli.prompt(&text.characters)?;
            if let Some(path) = &cli.save {
                weights::ensure_writable(path)?;
            }
            model = match training::train(cli, &text, device)? {
                Ok(model) => model,
                Err(stopped) => return Ok(stopped),
            };
            if let Some(path) = &cli.save {
                save(&model, &text.characters, path)?;
                say(&format!("saved {}", path.display()));
            }
            let loss = training::validation_loss(&model, &text, cli.batch)?;
            let count = text.validation.len();
            let told = format!("validation loss {loss:.4} over all {count} characters");
            print(&format!("{told}\n\n"))?;
            #[cfg(feature = "plot")]
            if let Some(report) = &mut report {
                pictures::of_training(report, cli, &model, &text, &told)?;
            }
            characters = text.characters;
        }
    }
    let mut sampler = sampler.restrict_to(characters.tokens());
    let written = sample::sample(&model, &mut sampler, &prompt, cli.sample)?;
    let written = characters.decode(&written);
    print(&format!("{written}\n"))?;
    #[cfg(feature = "plot")]
    if let Some(report) = report {
        let page = pictures::finish(report, cli, &model, &written)?;
        say(&format!("wrote {}", page.display()));
    }
    Ok(ExitCode::SUCCESS)
}

/// Saves weights and characters.
fn save<D: Backend<f32>>(
    model: &Model<D>,
    characters: &CharTokenizer<VocabSize>,
    path: &Path,
) -> Result<(), Failure> {
    let metadata = HashMap::from([(CHARACTERS.to_string(), characters.alphabet())]);
    Ok(weights::save_with_metadata(model, path, metadata)?)
}

/// Weights and characters that were saved together.
fn load<D: Backend<f32>>(path: &Path, device: &D) -> Result<(Model<D>, CharTokenizer<VocabSize>), Failure> {
    let in_file = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let metadata = weights::metadata(path)?;
    let text = metadata.get(CHARACTERS);
    let text = text.ok_or_else(|| in_file(&"there are no characters with the weights"))?;
    let characters = CharTokenizer::from_text(text).map_err(|error| in_file(&error))?;
    let model = weights::load(path, device).map_err(|error| in_file(&error))?;
    Ok((model, characters))
}
