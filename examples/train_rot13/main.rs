//! Trains the encoder-decoder of *Another annotated transformer* to encrypt words by rot13, then
//! decodes with it.
//!
//! ```text
//! cargo run --example train_rot13                       # train, then decode `hey there ma dood`
//! cargo run --example train_rot13 -- attack at dawn     # ... and decode these
//! cargo run --example train_rot13 -- --save rot13.safetensors
//! echo attack at dawn | cargo run --example train_rot13 -- --load rot13.safetensors
//! ```
//!
//! Ctrl-C finishes the step and saves the training; the same command with `--resume rot13.checkpoint`
//! goes on as if it had never stopped. `--checkpoint PATH` saves it as it goes, `--metrics PATH`
//! writes a line of JSON for each step, `--report DIR` draws what the model does and has learned.
//!
//! # What differs from the post
//!
//! The model is the post's to the last parameter. Its recipe is not: plain gradient descent whose
//! optimizer state is thrown away at every step (`opt_params` for `opt_state` in its loop), so that
//! the learning rate stays at the first value of its schedule; with the state kept, the rate falls
//! so fast that the model stays at 7 % of words. Here
//!
//! - Adam replaces plain gradient descent: embeddings of letters and layer norms need steps of
//!   different sizes. Its second moment decays by 0.99, so that it forgets the first, steep steps;
//! - the learning rate warms up to 0.03 over 100 steps and follows half a cosine down to a 200th of
//!   it: a high rate leaves the plateaus on which two letters share a code, the low one at the end
//!   settles the rest. With a peak of 0.01 or 0.02 one seed in ten or thirty stays on such a plateau;
//! - gradients are clipped to a global norm of 1, as in the post;
//! - new parameters are drawn as the post's library draws embeddings (deviation 1/√8) and as PyTorch
//!   draws linear maps: with embeddings of deviation 1 the scaling by √8 drowns the positions, and
//!   the decoder does not find its place in the word.
//!
//! The data are the post's: words of 1 to 15 letters, every length and letter as likely as any
//! other, drawn afresh for every step.

mod cli;
#[path = "../support/device.rs"]
mod device;
mod model;
#[cfg(feature = "plot")]
mod pictures;
mod progress;
#[cfg(feature = "plot")]
#[path = "../support/report.rs"]
mod report;
mod training;
mod words;

use clap::Parser;
use cli::{Cli, RunError};
use device::{DeviceName, cuda};
use dfdx::tensor::Cpu;
use model::Model;
use progress::say;
use rand::{SeedableRng, rngs::StdRng};
use std::{
    fmt::Write as _,
    io::{self, Write as _},
    process::ExitCode,
};
use training::INTERRUPTED;
use typed_transformer::{backend::Backend, dims::Dim, generate::try_greedy, weights};
use words::{Batch, PAD, START, SrcLen, TgtLen, Word};

/// Fresh random words that the trained model is examined with.
const EXAMINED: usize = 1_000;
/// How many of them are shown.
const SHOWN: usize = 5;
/// The least share of them that must come out right.
const REQUIRED: f64 = 0.999;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.device {
        DeviceName::Cpu => run(&cli, &Cpu::seed_from_u64(cli.seed)),
        DeviceName::Cuda => cuda(cli.seed).map_err(RunError::Device).and_then(|gpu| run(&cli, &gpu)),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(stopped @ RunError::Stopped { .. }) => {
            say(&stopped.to_string());
            ExitCode::from(INTERRUPTED)
        }
        Err(error) => {
            say(&format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn run<D: Backend<f32>>(cli: &Cli, device: &D) -> Result<(), RunError> {
    // Whatever can be wrong with what the user gave is said before anything is trained.
    let given = cli.words()?;
    if let Some(path) = &cli.save {
        weights::ensure_writable(path)?;
    }
    #[cfg(feature = "plot")]
    let pictures = match cli.report() {
        Some(folder) => Some(report::Report::new(folder, "rot13").map_err(RunError::Report)?),
        None => None,
    };
    let model = match &cli.load {
        Some(path) => weights::load::<Model<D>, _, _>(path, device)
            .map_err(|error| RunError::Load { path: path.clone(), error })?,
        None => training::train(cli, device)?,
    };
    // A failure to save must not cost the user the result of the training.
    let saved = cli.save.as_ref().map_or(Ok(()), |path| weights::save(&model, path));

    let mut rng = StdRng::seed_from_u64(cli.seed);
    let examined: Vec<Word> = (0..EXAMINED).map(|_| words::random(&mut rng)).collect();
    let written = decode(&model, &examined)?;
    let right = examined.iter().zip(&written).filter(|(plain, cipher)| words::rot13(plain) == **cipher);
    let share = right.count() as f64 / EXAMINED as f64;
    let mut report = String::new();
    let ciphers = decode(&model, &given)?;
    table(&mut report, "given", &given, &ciphers);
    table(&mut report, "random", &examined[..SHOWN], &written[..SHOWN]);
    let _ = writeln!(report, "{:.1} % of {EXAMINED} fresh random words decoded exactly", 100.0 * share,);
    print(&report).map_err(RunError::Stdout)?;
    #[cfg(feature = "plot")]
    if let Some(pictures) = pictures {
        let page = pictures::write(pictures, cli, &model, &report, (&given, &ciphers));
        say(&format!("wrote {}", page.map_err(RunError::Report)?.display()));
    }

    saved?;
    if let Some(path) = &cli.save {
        say(&format!("saved {}", path.display()));
    }
    if share < REQUIRED {
        return Err(RunError::Inexact { share });
    }
    Ok(())
}

/// Lets the model write the cipher of each word, by its own output alone.
fn decode<D: Backend<f32>>(model: &Model<D>, plain: &[Word]) -> Result<Vec<Word>, RunError> {
    let source = words::batch(plain, SrcLen)?;
    let written = try_greedy(model, &source, START, PAD, TgtLen)?;
    let (batch, _): (Batch, TgtLen) = written.shape();
    let row = |row| written.row(row).into_iter().flatten().take_while(|token| *token != PAD);
    Ok((0..batch.size()).map(|i| row(i).collect()).collect())
}

/// Plain and cipher text side by side.
fn table(report: &mut String, title: &str, plain: &[Word], cipher: &[Word]) {
    let _ = writeln!(report, "{:16} {:16}", format!("{title} plain"), "cipher");
    for (plain, cipher) in plain.iter().zip(cipher) {
        let expected = words::rot13(plain);
        let (plain, written) = (words::write(plain), words::write(cipher));
        let _ = write!(report, "{plain:16} {written}");
        if *cipher != expected {
            let _ = write!(report, "   but it is {}", words::write(&expected));
        }
        report.push('\n');
    }
    report.push('\n');
}

/// Prints to standard output; a reader that has seen enough, such as `head`, is no error.
fn print(report: &str) -> io::Result<()> {
    match io::stdout().write_all(report.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}
