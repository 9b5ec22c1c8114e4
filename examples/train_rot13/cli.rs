//! The command line, and everything that can be wrong with it.

use crate::words::{self, Word, WordError};
use clap::Parser;
use std::{
    io::{self, IsTerminal, Read, stdin},
    path::PathBuf,
    sync::mpsc,
    thread,
    time::Duration,
};
use typed_transformer::{
    io::{LoadError, SaveError},
    ops::OpError,
    tokens::TokenError,
};

/// Train a typed transformer to encrypt words by rot13, then decode with it.
#[derive(Parser)]
#[command(version)]
pub struct Cli {
    /// Words to decode, of 1 to 15 letters from a to z; `-` reads them from standard input, as does
    /// giving none where something is piped in [default: hey there ma dood]
    words: Vec<String>,
    /// Seed of the parameters and of the random words
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Steps to train for
    #[arg(long, default_value_t = 1_500)]
    pub steps: usize,
    /// Words in each step
    #[arg(long, default_value_t = 50, value_parser = positive)]
    pub batch: usize,
    /// The highest learning rate
    #[arg(long, default_value_t = 0.02)]
    pub learning_rate: f64,
    /// Where to save the weights, as safetensors
    #[arg(long, value_name = "PATH")]
    pub save: Option<PathBuf>,
    /// Weights to decode with, instead of training
    #[arg(long, value_name = "PATH", conflicts_with_all = ["save", "steps", "batch", "learning_rate"])]
    pub load: Option<PathBuf>,
}

/// How long an open standard input may say nothing before it counts as empty.
const PATIENCE: Duration = Duration::from_secs(1);

const DEFAULT_WORDS: [&str; 4] = ["hey", "there", "ma", "dood"];

impl Cli {
    /// The words to decode, checked.
    pub fn words(&self) -> Result<Vec<Word>, RunError> {
        let mut given = Vec::new();
        for word in &self.words {
            match word.as_str() {
                "-" => given.extend(read(None)?),
                _ => given.push(word.clone()),
            }
        }
        if self.words.is_empty() && !stdin().is_terminal() {
            given = read(Some(PATIENCE))?;
        }
        if given.is_empty() {
            given = DEFAULT_WORDS.map(String::from).to_vec();
        }
        given.iter().map(|word| Ok(words::parse(word)?)).collect()
    }
}

/// Words from standard input. An input that nobody writes to and nobody closes, as a program that
/// starts this one may leave it, is given up after `patience`.
fn read(patience: Option<Duration>) -> Result<Vec<String>, RunError> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut text = Vec::new();
        let result = stdin().lock().read_to_end(&mut text);
        // Nobody receives once patience is at its end.
        let _ = sender.send(result.map(|_| text));
    });
    let text = match patience {
        Some(patience) => receiver
            .recv_timeout(patience)
            .unwrap_or_else(|_| Ok(Vec::new())),
        None => receiver.recv().unwrap_or_else(|_| Ok(Vec::new())),
    };
    let text = String::from_utf8_lossy(&text?).into_owned();
    Ok(text.split_whitespace().map(String::from).collect())
}

fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("it must be at least 1".into()),
        Ok(number) => Ok(number),
        Err(error) => Err(format!("{error}")),
    }
}

/// What can go wrong, in one line each.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Word(#[from] WordError),
    #[error("{}: {error}", path.display())]
    Load { path: PathBuf, error: LoadError },
    #[error(transparent)]
    Save(#[from] SaveError),
    #[error("the loss is no longer a number at step {step}; try a lower --learning-rate")]
    Diverged { step: usize },
    #[error("only {:.1} % of the words came out right; try more --steps", 100.0 * share)]
    Inexact { share: f64 },
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Tokens(#[from] TokenError),
    #[error(transparent)]
    Op(#[from] OpError),
    #[error(transparent)]
    Device(#[from] dfdx::tensor::CpuError),
}
