//! The command line, and words as text.

use crate::{
    MaxSeqLen, VocabSize, Word, letter_token,
    support::{BoxError, DeviceName, Files, batch_size, count, escape, learning_rate},
};
use clap::Parser;
use std::path::PathBuf;
use typed_transformer::tokens::Fin;

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
    /// Steps between checkpoints, with another one after the last step; 0 for none [default: 100 with --checkpoint
    /// or --resume, else 0]
    #[arg(long, value_name = "STEPS", value_parser = count)]
    pub checkpoint_every: Option<usize>,
    /// Weights to decode with, instead of training
    #[arg(long, value_name = "PATH", conflicts_with_all =
        ["save", "steps", "batch", "learning_rate", "checkpoint", "checkpoint_every", "resume", "metrics"])]
    pub load: Option<PathBuf>,
}

const CHECKPOINT_HELP: &str = "File for checkpoints of the training: every 100 steps, after the last step \
    and on Ctrl-C [default: rot13.checkpoint, on Ctrl-C only]";

/// Parses a word of letters from a to z.
pub fn parse_word(word: &str) -> Result<Word, BoxError> {
    let shown = escape(word);
    if let Some(letter) = word.chars().find(|letter| !letter.is_ascii_lowercase()) {
        return Err(format!("`{}` in `{shown}` is not a letter from a to z", escape(&letter.to_string())).into());
    }
    let max = MaxSeqLen::SIZE;
    match word.len() {
        0 => Err("a word must have at least one letter".into()),
        1..=MaxSeqLen::SIZE => Ok(word.bytes().map(|letter| letter_token((letter - b'a').into())).collect()),
        len => Err(format!("`{shown}` has {len} letters, but the model takes at most {max}").into()),
    }
}

/// Formats a word; a token that is not a letter becomes `~`.
pub fn format_word(word: &[Fin<VocabSize>]) -> String {
    let letter = |token: &Fin<_>| ('a'..='z').nth(token.value()).unwrap_or('~');
    word.iter().map(letter).collect()
}
