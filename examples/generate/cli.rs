//! The command line.

use crate::support::{BoxError, DeviceName, batch_size, count, power};
use clap::{Parser, ValueEnum};
use std::path::PathBuf;
use typed_transformer::{
    dims::ConstDim,
    generate::{BeamOptions, EarlyStopping, Sampler},
};

/// Continue a prompt with a published model, from a folder of HuggingFace.
#[derive(Parser)]
#[command(version)]
pub struct Cli {
    /// Folder with config.json, tokenizer.json and model.safetensors or its shards
    #[arg(value_name = "FOLDER", default_value = ".")]
    pub folder: PathBuf,
    /// The published model whose folder it is
    #[arg(long, value_enum, default_value_t)]
    pub model: ModelName,
    /// Beginning of the text; several write several texts together
    #[arg(long = "prompt", value_name = "TEXT", default_value = "Once upon a time", allow_hyphen_values = true)]
    pub prompts: Vec<String>,
    /// Answer each prompt as a message, in the words of the model's chat template
    #[arg(long)]
    pub chat: bool,
    /// What the model is told before the message
    #[arg(long, value_name = "TEXT", requires = "chat", allow_hyphen_values = true)]
    pub system: Option<String>,
    /// Answer without thinking first, if the template can say that, as Qwen3's
    #[arg(long, requires = "chat")]
    pub no_thinking: bool,
    /// End a text before this string; several end it before the first one
    #[arg(long = "stop", value_name = "TEXT", allow_hyphen_values = true)]
    pub stops: Vec<String>,
    /// The most tokens to write
    #[arg(long, value_name = "COUNT", default_value_t = 100, value_parser = count)]
    pub tokens: usize,
    /// Draw tokens, with logits that are divided by this number; without it, the most likely token is written
    #[arg(long, conflicts_with = "num_beams")]
    temperature: Option<f64>,
    /// Draw only among this many most likely tokens
    #[arg(long, value_name = "COUNT", requires = "temperature")]
    top_k: Option<usize>,
    /// Draw only among the most likely tokens that together reach this probability
    #[arg(long, value_name = "PROBABILITY", requires = "temperature")]
    top_p: Option<f64>,
    /// Draw only among the tokens that are at least this many times as likely as the most likely one
    #[arg(long, value_name = "FACTOR", requires = "temperature")]
    min_p: Option<f64>,
    /// Divide the positive logits of tokens that the text has by this number, and multiply the negative ones
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    repetition_penalty: f64,
    /// Look for the most likely text, with this many beams
    #[arg(long, value_name = "COUNT", value_parser = batch_size, conflicts_with = "repetition_penalty")]
    pub num_beams: Option<usize>,
    /// Divide the score of a text by its number of tokens to this power
    #[arg(long, value_name = "POWER", default_value_t = 1.0, value_parser = power, requires = "num_beams")]
    #[arg(allow_hyphen_values = true)]
    length_penalty: f64,
    /// When the search ends
    #[arg(long, value_enum, default_value_t, requires = "num_beams")]
    early_stopping: Stopping,
    /// Folder of a smaller model whose proposals the model checks: gpt2 for gpt2-medium, qwen3-0.6b for qwen3-1.7b
    #[arg(long, value_name = "FOLDER", conflicts_with = "num_beams")]
    pub draft: Option<PathBuf>,
    /// The most tokens that the smaller model proposes at once
    #[arg(long, value_name = "COUNT", default_value_t = 4, value_parser = count, requires = "draft")]
    pub draft_tokens: usize,
    /// How the weights are stored in memory; with fewer bits a token takes less time
    #[arg(long, value_enum, default_value_t)]
    pub weights: Weights,
    /// Seed of the draws
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Device to run on; cuda needs a build with --features cuda
    #[arg(long, value_enum, default_value_t)]
    pub device: DeviceName,
}

/// When a search with beams ends.
#[derive(Clone, Copy, Default, ValueEnum)]
enum Stopping {
    /// When the best beam is no better than the worst text that has ended
    #[default]
    Heuristic,
    /// When as many texts have ended as there are beams
    WhenFull,
    /// When the best beam can become no better than the worst text that has ended
    Never,
}

/// How the weights are stored in memory.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Weights {
    /// 4 bytes a weight
    #[default]
    F32,
    /// bfloat16, 2 bytes a weight, on the CPU
    Bf16,
    /// 8 bits and a scale for each 32 weights, on the CPU
    Q8,
}

/// A published model.
#[derive(Clone, Copy, Default, ValueEnum)]
pub enum ModelName {
    /// 124 million parameters
    #[default]
    Gpt2,
    /// 355 million parameters
    Gpt2Medium,
    /// A GPT-2 of two columns, for tests
    #[value(name = "tiny-gpt2")]
    TinyGpt2,
    /// SmolLM, 135 million parameters
    #[value(name = "smollm-135m")]
    SmolLm,
    /// TinyLlama, 1.1 billion parameters
    #[value(name = "tinyllama-1.1b")]
    TinyLlama,
    /// Llama 3.2, 1.2 billion parameters
    #[value(name = "llama-3.2-1b")]
    Llama,
    /// Qwen3, 0.6 billion parameters
    #[value(name = "qwen3-0.6b")]
    Qwen3,
    /// Qwen3, 1.7 billion parameters
    #[value(name = "qwen3-1.7b")]
    LargerQwen3,
    /// OLMo 2, 1.5 billion parameters
    #[value(name = "olmo-2-1b")]
    Olmo2,
    /// Gemma 3, 268 million parameters
    #[value(name = "gemma-3-270m")]
    Gemma3,
    /// Mixtral, 47 billion parameters, 187 GB of memory
    #[value(name = "mixtral-8x7b")]
    Mixtral,
}

impl Cli {
    pub fn beam_options(&self) -> BeamOptions {
        let early_stopping = match self.early_stopping {
            Stopping::Heuristic => EarlyStopping::Heuristic,
            Stopping::WhenFull => EarlyStopping::WhenFull,
            Stopping::Never => EarlyStopping::Never,
        };
        BeamOptions { length_penalty: self.length_penalty, early_stopping }
    }

    pub fn sampler<V: ConstDim>(&self) -> Result<Sampler<V>, BoxError> {
        let Some(temperature) = self.temperature else {
            return Ok(Sampler::greedy().repetition_penalty(self.repetition_penalty)?);
        };
        let mut sampler =
            Sampler::with_temperature(temperature, self.seed)?.repetition_penalty(self.repetition_penalty)?;
        if let Some(k) = self.top_k {
            sampler = sampler.top_k(k)?;
        }
        if let Some(p) = self.top_p {
            sampler = sampler.top_p(p)?;
        }
        if let Some(p) = self.min_p {
            sampler = sampler.min_p(p)?;
        }
        Ok(sampler)
    }
}
