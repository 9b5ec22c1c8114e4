//! The training job of *The Typed Transformer*: the post's encoder-decoder at its tiny configuration
//! learns to continue ascending and descending sequences of integers, and then does so with fresh ones.
//!
//! ```text
//! cargo run --example train_sequences
//! cargo run --example train_sequences -- --resume train_sequences.checkpoint   # after a Ctrl-C
//! ```
//!
//! `--report DIR` draws what the model does and has learned.
//!
//! 3 to 15 consecutive numbers below 125 are given, and the next two are asked for. As in the post, the
//! loss is the mean over the labels of each sequence, then over the batch of 256.
//!
//! The learning rate is not the post's: with its 2e-2, Adam makes no progress here; with 5e-4 it does.

mod cli;
mod model;
#[cfg(feature = "plot")]
mod pictures;
mod sequences;
#[path = "../support/mod.rs"]
mod support;
mod training;

use clap::Parser;
use cli::Cli;
use dfdx::tensor::Cpu;
use model::Model;
use rand::{SeedableRng, rngs::StdRng};
use sequences::{BEGIN, NUMBERS, Numbers, PAD, Sequence, TgtLen, VocabSize};
use std::{fmt::Write as _, process::ExitCode};
#[cfg(feature = "plot")]
use support::say;
use support::{DeviceName, Failure, cuda, print};
use typed_transformer::{backend::Backend, generate::try_greedy, tokens::Fin};

/// Fresh random sequences that the trained model is examined with.
const EXAMINED: usize = 1_000;
/// How many of each direction are shown.
const SHOWN: usize = 5;
/// The least share of them that must be continued as they should.
const REQUIRED: f64 = 0.99;

fn main() -> ExitCode {
    let cli = Cli::parse();
    support::status(match cli.device {
        DeviceName::Cpu => run(&cli, &Cpu::seed_from_u64(cli.seed)),
        DeviceName::Cuda => cuda(cli.seed).map_err(Failure::from).and_then(|gpu| run(&cli, &gpu)),
    })
}

fn run<D: Backend<f32>>(cli: &Cli, device: &D) -> Result<ExitCode, Failure> {
    #[cfg(feature = "plot")]
    let pictures = cli.files.report("Sequences of integers")?;
    let model = match training::train(cli, device)? {
        Ok(model) => model,
        Err(stopped) => return Ok(stopped),
    };
    let mut rng = StdRng::seed_from_u64(cli.seed);
    let examined: Vec<Sequence> = (0..EXAMINED).map(|_| Sequence::random(&mut rng)).collect();
    let written = continued(&model, &examined)?;
    let pairs: Vec<_> = examined.iter().zip(&written).collect();
    let mut report = String::new();
    for (direction, ascending) in [("ascending", true), ("descending", false)] {
        let pairs = pairs.iter().filter(|(s, _)| s.is_ascending() == ascending);
        let right = pairs.clone().filter(|(s, written)| s.next == **written);
        let (right, count) = (right.count(), pairs.clone().count());
        let _ = writeln!(report, "{direction}: {right} of {count} continued rightly");
        for (sequence, written) in pairs.take(SHOWN) {
            let (given, next) = (text(&sequence.given), text(&sequence.next));
            let _ = write!(report, "  {given} -> {}", text(written));
            if **written != sequence.next {
                let _ = write!(report, "   but it is {next}");
            }
            report.push('\n');
        }
    }
    let right = pairs.iter().filter(|(s, written)| s.next == **written);
    let share = right.count() as f64 / EXAMINED as f64;
    let percent = 100.0 * share;
    let _ = writeln!(report, "{percent:.1} % of {EXAMINED} fresh sequences");
    print(&report)?;
    #[cfg(feature = "plot")]
    if let Some(pictures) = pictures {
        let page = pictures::write(pictures, cli, &model, &report, &pairs)?;
        say(&format!("wrote {}", page.display()));
    }
    if share < REQUIRED {
        let advice = "try more --steps";
        return Err(format!("only {percent:.1} % were continued rightly; {advice}").into());
    }
    Ok(ExitCode::SUCCESS)
}

/// Lets the model continue each sequence, by its own output alone.
fn continued<D: Backend<f32>>(model: &Model<D>, sequences: &[Sequence]) -> Result<Vec<Numbers>, Failure> {
    let source = sequences::sources(sequences)?;
    let written = try_greedy(model, &source, BEGIN, PAD, TgtLen)?;
    Ok((0..sequences.len()).filter_map(|i| written.row(i)).collect())
}

/// Numbers side by side; what is no number becomes a `~`.
fn text(numbers: &[Fin<VocabSize>]) -> String {
    let write = |number: &Fin<_>| match number.value() {
        number if number < NUMBERS => number.to_string(),
        _ => "~".into(),
    };
    numbers.iter().map(write).collect::<Vec<_>>().join(" ")
}
