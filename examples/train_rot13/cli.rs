//! The command line, and everything that can be wrong with it.

use crate::{
    device::DeviceName,
    progress::say,
    words::{self, Word, WordError},
};
use clap::Parser;
use std::{
    io::{self, BufRead, IsTerminal, Read, stdin},
    panic::resume_unwind,
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
    time::Duration,
};
use typed_transformer::{
    ops::OpError,
    tokens::TokenError,
    train::{ResumeError, TrainError},
    weights::{LoadError, SaveError},
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
    #[arg(long, default_value_t = 2_000)]
    pub steps: usize,
    /// Words in each step
    #[arg(long, default_value_t = 50, value_parser = batch_size)]
    pub batch: usize,
    /// The highest learning rate
    #[arg(long, default_value_t = 0.03)]
    pub learning_rate: f64,
    /// Where to run; cuda needs a build with --features cuda
    #[arg(long, value_enum, default_value_t)]
    pub device: DeviceName,
    /// Where to save the weights, as safetensors
    #[arg(long, value_name = "PATH")]
    pub save: Option<PathBuf>,
    /// Where to save the training every 100 steps, at its end and on Ctrl-C [default: on Ctrl-C alone,
    /// in rot13.checkpoint]
    #[arg(long, value_name = "PATH")]
    pub checkpoint: Option<PathBuf>,
    /// A checkpoint to go on from as if the training had never stopped, given the same options; the
    /// training is saved there, too
    #[arg(long, value_name = "PATH", conflicts_with = "checkpoint")]
    pub resume: Option<PathBuf>,
    /// Where to write a line of numbers for each step, as JSON
    #[arg(long, value_name = "PATH")]
    metrics: Option<PathBuf>,
    /// Where to put pictures of the training and of the model, and a page that holds them, index.html
    #[cfg(feature = "plot")]
    #[arg(long, value_name = "DIR")]
    pub report: Option<PathBuf>,
    /// Weights to decode with, instead of training
    #[arg(long, value_name = "PATH", conflicts_with_all =
        ["save", "steps", "batch", "learning_rate", "checkpoint", "resume", "metrics"])]
    pub load: Option<PathBuf>,
}

/// How long an open standard input may say nothing before it counts as empty.
const PATIENCE: Duration = Duration::from_secs(1);

/// More words in each step than this would only fill the memory.
const MAX_BATCH: usize = 10_000;

const DEFAULT_WORDS: [&str; 4] = ["hey", "there", "ma", "dood"];

impl Cli {
    /// Where the training writes its metrics.
    pub fn metrics(&self) -> Option<PathBuf> {
        let of_report = self.report().map(|folder| folder.join("metrics.jsonl"));
        let chosen = self.metrics.clone().or(of_report);
        chosen.filter(|_| self.load.is_none())
    }

    /// Where the report goes.
    pub fn report(&self) -> Option<&Path> {
        #[cfg(feature = "plot")]
        return self.report.as_deref();
        #[cfg(not(feature = "plot"))]
        None
    }

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
    let (sender, begun) = mpsc::channel();
    let reader = thread::spawn(move || {
        let mut input = stdin().lock();
        // Waits for the first byte, the end or an error, which comes again below.
        let _ = input.fill_buf();
        // Nobody receives once patience is at its end.
        let _ = sender.send(());
        let mut text = Vec::new();
        input.read_to_end(&mut text).map(|_| text)
    });
    if let Some(patience) = patience
        && begun.recv_timeout(patience).is_err()
    {
        say("nothing comes from standard input, so its words are not waited for");
        return Ok(Vec::new());
    }
    let text = reader.join().unwrap_or_else(|panic| resume_unwind(panic)).map_err(RunError::Stdin)?;
    let text = String::from_utf8_lossy(&text);
    Ok(text.split_whitespace().map(String::from).collect())
}

fn batch_size(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("it must be at least 1".into()),
        Ok(number @ ..=MAX_BATCH) => Ok(number),
        Ok(_) => Err(format!("it must be at most {MAX_BATCH}")),
        Err(error) => Err(format!("{error}")),
    }
}

/// What can go wrong, in one line each.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Word(#[from] WordError),
    #[error("{}", of_file(path, error))]
    Load { path: PathBuf, error: LoadError },
    #[error(transparent)]
    Save(#[from] SaveError),
    #[error("the loss or its gradient is no longer a number at step {step}; try a lower --learning-rate")]
    Diverged { step: usize },
    #[error(
        "stopped after step {step} of {steps}; the same command with --resume {} goes on from there",
        path.display()
    )]
    Stopped { step: usize, steps: usize, path: PathBuf },
    #[error("cannot listen to Ctrl-C: {0}")]
    Signal(#[from] ctrlc::Error),
    #[error(transparent)]
    Resume(#[from] ResumeError),
    #[error(transparent)]
    Train(TrainError),
    #[error("only {:.1} % of the words came out right; try more --steps", 100.0 * share)]
    Inexact { share: f64 },
    #[error("cannot read standard input: {0}")]
    Stdin(io::Error),
    #[error("cannot write to standard output: {0}")]
    Stdout(io::Error),
    #[error(transparent)]
    Tokens(#[from] TokenError),
    #[error(transparent)]
    Op(#[from] OpError),
    #[error("{0}")]
    Device(String),
    #[cfg(feature = "plot")]
    #[error("{0}")]
    Report(Box<dyn std::error::Error>),
}

impl From<TrainError> for RunError {
    fn from(error: TrainError) -> Self {
        match error {
            TrainError::Loss { step, .. } | TrainError::Gradient { step, .. } => Self::Diverged { step },
            error => Self::Train(error),
        }
    }
}

/// An error of a tensor does not name the file that the tensor is in.
fn of_file(path: &Path, error: &LoadError) -> String {
    match error {
        LoadError::Read { .. } | LoadError::Format { .. } => error.to_string(),
        _ => format!("{}: {error}", path.display()),
    }
}
