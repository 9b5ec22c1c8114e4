//! The command line.

use crate::{
    Word,
    stdin::args_or_stdin,
    support::{BoxError, Checkpoints, DeviceName, Files, Goal, batch_size, count, learning_rate},
    words::parse_word,
};
use clap::Parser;
use std::path::PathBuf;

/// Train a typed transformer to encrypt words by rot13, then decode with it.
#[derive(Parser)]
#[command(version, mut_arg("checkpoint", |arg| arg.help(CHECKPOINT_HELP)))]
pub struct Cli {
    /// Words to decode, 1 to 15 letters from a to z each; `-` reads them from standard input. Without
    /// words, piped standard input is read [default: hey there ma dood]
    pub words: Vec<String>,
    /// Seed of the parameters and of the random words
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Training steps
    #[arg(long, default_value_t = 2_000, value_parser = count)]
    pub steps: usize,
    /// Words per step
    #[arg(long, default_value_t = 50, value_parser = batch_size)]
    pub batch: usize,
    /// Peak learning rate
    #[arg(long, default_value_t = 0.03, value_parser = learning_rate)]
    pub learning_rate: f64,
    /// Device to run on; cuda needs a build with --features cuda
    #[arg(long, value_enum, default_value_t)]
    pub device: DeviceName,
    #[command(flatten)]
    pub files: Files,
    #[command(flatten)]
    pub goal: Goal,
    /// Steps between checkpoints, with another one after the last step; 0 for none [default: 100 with --checkpoint
    /// or --resume of another file than rot13.checkpoint, else 0]
    #[arg(long, value_name = "STEPS", value_parser = count)]
    pub checkpoint_every: Option<usize>,
    /// Weights to decode with, instead of training
    #[arg(long, value_name = "PATH", conflicts_with_all =
        ["save", "steps", "batch", "learning_rate", "checkpoint", "checkpoint_every", "resume", "metrics"])]
    pub load: Option<PathBuf>,
}

const CHECKPOINT_HELP: &str = "File for checkpoints of the training: every 100 steps, after the last step \
    and on Ctrl-C [default: rot13.checkpoint, on Ctrl-C only]";

/// Words to decode if the user gives none.
const DEFAULT_WORDS: &[&str] = &["hey", "there", "ma", "dood"];
/// The file for checkpoints if the user names none.
const CHECKPOINT: &str = "rot13.checkpoint";
/// Steps between checkpoints if the user names a file for them.
const CHECKPOINT_INTERVAL: usize = 100;

impl Cli {
    /// The words to decode: those of the command line, of standard input, or default ones.
    pub fn words(&self) -> Result<Vec<Word>, BoxError> {
        args_or_stdin(&self.words, DEFAULT_WORDS)?.iter().map(|word| parse_word(word)).collect()
    }

    pub fn checkpoints(&self) -> Checkpoints {
        let default = if self.files.names_checkpoint(CHECKPOINT) { CHECKPOINT_INTERVAL } else { 0 };
        self.files.checkpoints(CHECKPOINT, self.checkpoint_every.unwrap_or(default))
    }
}
