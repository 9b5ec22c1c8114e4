//! The command line.

use crate::{
    VocabSize,
    support::{BoxError, DeviceName, Files, batch_size, count, learning_rate},
};
use clap::Parser;
#[cfg(feature = "tokenizers")]
use clap::ValueEnum;
use std::path::{Path, PathBuf};
use typed_transformer::{
    dims::ConstDim,
    generate::Sampler,
    tokens::{CharTokenizer, Fin},
};

/// Train a decoder-only character model on a text, then sample from it.
#[derive(Parser)]
#[command(version, mut_arg("save", |arg| arg.help("File to save weights and characters to, as safetensors")))]
pub struct Cli {
    /// Text to train on, in UTF-8 [default: plays by Shakespeare]
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,
    /// Seed of the parameters, of the windows of text and of the sample
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Training steps
    #[arg(long, default_value_t = 2_000, value_parser = count)]
    pub steps: usize,
    /// Windows of text per step
    #[arg(long, default_value_t = 12, value_parser = batch_size)]
    pub batch: usize,
    /// Peak learning rate; the last one is a tenth of it [default: 0.001, or 0.00005 with --from]
    #[arg(long, value_parser = learning_rate)]
    learning_rate: Option<f64>,
    /// Folder of GPT-2 from HuggingFace, to go on from its weights with its tokenizer
    #[cfg(feature = "tokenizers")]
    #[arg(long, value_name = "FOLDER")]
    pub from: Option<PathBuf>,
    /// The size of this GPT-2
    #[cfg(feature = "tokenizers")]
    #[arg(long, value_enum, default_value_t, requires = "from")]
    pub model: Gpt2Size,
    /// Steps between estimates of training and validation loss; 0 for the one after the last step alone
    #[arg(long, value_name = "STEPS", default_value_t = 200, value_parser = count)]
    pub interval: usize,
    /// Device to run on; cuda needs a build with --features cuda
    #[arg(long, value_enum, default_value_t)]
    pub device: DeviceName,
    #[command(flatten)]
    pub files: Files,
    /// Steps between checkpoints, with another one after the last step; 0 for none
    #[arg(long, value_name = "STEPS", default_value_t = 0, value_parser = count)]
    pub checkpoint_every: usize,
    /// Weights and characters to sample from, instead of training
    #[arg(long, value_name = "PATH", conflicts_with_all = [
        "Files", "checkpoint_every", "data", "steps", "batch", "learning_rate", "interval",
    ])]
    pub load: Option<PathBuf>,
    /// Characters to sample
    #[arg(long, value_name = "CHARACTERS", default_value_t = 500, value_parser = count)]
    pub sample: usize,
    /// Beginning of the sample [default: the lowest character of the text, usually a newline]
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub prompt: Option<String>,
    /// Divides the logits: below 1 sharpens the distribution, above 1 flattens it
    #[arg(long, default_value_t = 0.8)]
    temperature: f64,
    /// Sample only among this many most likely characters
    #[arg(long, value_name = "COUNT")]
    top_k: Option<usize>,
    /// Sample only among the most likely characters that together reach this probability
    #[arg(long, value_name = "PROBABILITY")]
    top_p: Option<f64>,
}

/// A published GPT-2.
#[cfg(feature = "tokenizers")]
#[derive(Clone, Copy, Default, ValueEnum)]
pub enum Gpt2Size {
    /// 124 million parameters
    #[default]
    Gpt2,
    /// 355 million parameters
    Gpt2Medium,
    /// Two columns, for tests
    #[value(name = "tiny-gpt2")]
    TinyGpt2,
}

impl Cli {
    /// With `--from` the default is lower: the rate of a new model would destroy GPT-2's weights.
    pub fn learning_rate(&self) -> f64 {
        #[cfg(feature = "tokenizers")]
        let default = if self.from.is_some() { 5e-5 } else { 1e-3 };
        #[cfg(not(feature = "tokenizers"))]
        let default = 1e-3;
        self.learning_rate.unwrap_or(default)
    }

    /// The files and folders that a training run reads.
    pub fn inputs(&self) -> Vec<&Path> {
        let data = self.data.iter();
        #[cfg(feature = "tokenizers")]
        let data = data.chain(&self.from);
        data.map(PathBuf::as_path).collect()
    }

    pub fn sampler<V: ConstDim>(&self) -> Result<Sampler<V>, BoxError> {
        let mut sampler = Sampler::with_temperature(self.temperature, self.seed)?;
        if let Some(k) = self.top_k {
            sampler = sampler.top_k(k)?;
        }
        if let Some(p) = self.top_p {
            sampler = sampler.top_p(p)?;
        }
        Ok(sampler)
    }

    pub fn prompt(&self, characters: &CharTokenizer<VocabSize>) -> Result<Vec<Fin<VocabSize>>, BoxError> {
        match self.prompt.as_deref() {
            None | Some("") => Ok(characters.tokens().take(1).collect()),
            Some(text) => characters.encode(text).map_err(|error| format!("--prompt: {error}").into()),
        }
    }
}
