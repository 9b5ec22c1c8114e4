//! The command line.

use crate::{
    model::VocabSize,
    support::{DeviceName, Failure, Files, batch_size, positive},
};
use clap::Parser;
use std::path::PathBuf;
use typed_transformer::{
    generate::Sampler,
    tokens::{CharTokenizer, Fin},
};

/// Train a decoder-only character model on a text, then let it write.
#[derive(Parser)]
#[command(version)]
pub struct Cli {
    /// A text in UTF-8 [default: plays by Shakespeare]
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,
    /// Seed of the parameters, of the pieces of text and of the sample
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Steps to train for
    #[arg(long, default_value_t = 2_000)]
    pub steps: usize,
    /// Pieces of text in each step
    #[arg(long, default_value_t = 12, value_parser = batch_size())]
    pub batch: usize,
    /// The highest learning rate; the last one is a tenth of it
    #[arg(long, default_value_t = 1e-3, value_parser = positive)]
    pub learning_rate: f64,
    /// Steps between two looks at the losses of both parts of the text; 0 for none
    #[arg(long, value_name = "STEPS", default_value_t = 200)]
    pub interval: usize,
    /// Where to run; cuda needs a build with --features cuda
    #[arg(long, value_enum, default_value_t)]
    pub device: DeviceName,
    #[command(flatten)]
    pub files: Files,
    /// Where to save weights and characters, as safetensors
    #[arg(long, value_name = "PATH")]
    pub save: Option<PathBuf>,
    /// Weights and characters to write with, instead of training
    #[arg(long, value_name = "PATH", conflicts_with_all = [
        "Files", "data", "steps", "batch", "learning_rate", "interval", "save",
    ])]
    pub load: Option<PathBuf>,
    /// CharTokenizer to write
    #[arg(long, value_name = "CHARACTERS", default_value_t = 500)]
    pub sample: usize,
    /// What to write on from [default: the lowest character of the text, in most a new line]
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    prompt: Option<String>,
    /// Sharper than what the model has learned below 1, flatter above
    #[arg(long, default_value_t = 0.8)]
    temperature: f64,
    /// Choose among so many of the likeliest characters
    #[arg(long, value_name = "COUNT")]
    top_k: Option<usize>,
    /// Choose among the likeliest characters that come to this probability
    #[arg(long, value_name = "PROBABILITY")]
    top_p: Option<f64>,
}

impl Cli {
    /// How to choose the next character.
    pub fn sampler(&self) -> Result<Sampler<VocabSize>, Failure> {
        let mut sampler = Sampler::with_temperature(self.temperature, self.seed)?;
        if let Some(k) = self.top_k {
            sampler = sampler.top_k(k)?;
        }
        if let Some(p) = self.top_p {
            sampler = sampler.top_p(p)?;
        }
        Ok(sampler)
    }

    /// What to write on from.
    pub fn prompt(&self, characters: &CharTokenizer<VocabSize>) -> Result<Vec<Fin<VocabSize>>, Failure> {
        match self.prompt.as_deref() {
            None | Some("") => Ok(characters.tokens().take(1).collect()),
            Some(text) => characters.encode(text).map_err(|error| format!("--prompt: {error}").into()),
        }
    }
}
