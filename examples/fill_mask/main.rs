//! Fills in the masked words of a text by ModernBERT, from its folder: the five most likely tokens for each `[MASK]`.
//! `cargo run --features tokenizers --example fill_mask -- --help` lists the options; `examples/README.md` says where the
//! folder comes from.

mod fill;
#[path = "../support/mod.rs"]
mod support;

use clap::{Parser, ValueEnum};
use fill::{Choices, fill, find_masks};
use std::{path::PathBuf, process::ExitCode};
use support::{BoxError, DeviceName, cuda, parse, print};
use typed_transformer::{
    models::{
        modern_bert::{ModernBert, ModernBertConfig},
        published::{modern_bert_base, modern_bert_large},
    },
    prelude::*,
    tokens::Tokenizer,
    weights::{ensure_config, load_pretrained},
};

dims! { Len <= modern_bert_base::MaxSeqLen; }

/// Fill in the masked words of a text by ModernBERT.
#[derive(Parser)]
#[command(version)]
struct Cli {
    /// Folder with config.json, tokenizer.json and model.safetensors
    #[arg(value_name = "FOLDER", default_value = ".")]
    folder: PathBuf,
    /// Text with a [MASK] for each word that is missing
    #[arg(default_value = "The capital of France is [MASK].")]
    text: String,
    /// The published model in the folder
    #[arg(long, value_enum, default_value_t = ModelName::Base)]
    model: ModelName,
    /// Device to run on; cuda needs a build with --features cuda
    #[arg(long, value_enum, default_value_t)]
    device: DeviceName,
}

#[derive(Clone, Copy, ValueEnum)]
enum ModelName {
    #[value(name = "modernbert-base")]
    Base,
    #[value(name = "modernbert-large")]
    Large,
}

fn run<Config: ModernBertConfig, D: Backend<f32>>(cli: &Cli, device: &D) -> Result<(), BoxError>
where
    Len: AtMost<Config::MaxSeqLen>,
    Choices: AtMost<Config::VocabSize>,
{
    ensure_config::<ModernBert<Config, f32, D>>(&cli.folder)?;
    let tokenizer = Tokenizer::from_file(cli.folder.join("tokenizer.json"))?;
    let text = find_masks::<Len, Config::MaxSeqLen, _>(&tokenizer, &cli.text)?;
    let model: ModernBert<Config, f32, D> = load_pretrained(&cli.folder, device)?;
    for (mask, choices) in (1..).zip(fill(&model, &tokenizer, &text)?) {
        print(&format!("mask {mask}\n"))?;
        for choice in choices {
            print(&format!("{:6.1} %  {:?}\n", 100.0 * choice.probability, choice.text))?;
        }
    }
    Ok(())
}

fn run_on<D: Backend<f32>>(cli: &Cli, device: &D) -> Result<(), BoxError> {
    match cli.model {
        ModelName::Base => run::<modern_bert_base::Config, D>(cli, device),
        ModelName::Large => run::<modern_bert_large::Config, D>(cli, device),
    }
}

fn main() -> ExitCode {
    let cli: Cli = parse();
    support::exit_code(match cli.device {
        DeviceName::Cpu => run_on(&cli, &Cpu::default()),
        DeviceName::Cuda => cuda(0).and_then(|gpu| run_on(&cli, &gpu)),
    })
}
