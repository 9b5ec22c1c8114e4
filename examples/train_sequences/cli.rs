//! The command line.

use crate::support::{DeviceName, Files, Goal, batch_size, count, learning_rate};
use clap::Parser;

/// Train the model of *The Typed Transformer* to continue sequences of integers, then evaluate it.
#[derive(Parser)]
#[command(version)]
pub struct Cli {
    /// Seed of the parameters and of the random sequences
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Training steps
    #[arg(long, default_value_t = 1_500, value_parser = count)]
    pub steps: usize,
    /// Sequences per step
    #[arg(long, default_value_t = 256, value_parser = batch_size)]
    pub batch: usize,
    /// Learning rate of Adam
    #[arg(long, default_value_t = 5e-4, value_parser = learning_rate)]
    pub learning_rate: f64,
    /// Device to run on; cuda needs a build with --features cuda
    #[arg(long, value_enum, default_value_t)]
    pub device: DeviceName,
    #[command(flatten)]
    pub files: Files,
    #[command(flatten)]
    pub goal: Goal,
    /// Steps between checkpoints, with another one after the last step; 0 for none
    #[arg(long, value_name = "STEPS", default_value_t = 0, value_parser = count)]
    pub checkpoint_every: usize,
}
