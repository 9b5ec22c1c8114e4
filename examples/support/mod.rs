//! Code that the training examples share: devices, files, Ctrl-C, progress, words from standard input, reports.

#![allow(dead_code, unused_imports, reason = "each example uses a part of it")]

mod device;
mod files;
mod progress;
mod ranks;
#[cfg(feature = "plot")]
mod report;
mod signals;
mod stdin;
mod values;

pub use device::{DeviceName, cuda};
pub use files::{Files, Outcome, load_weights};
pub use progress::{Progress, log, print};
pub use ranks::{OfAllRanks, World, on_first, run_on_ranks};
#[cfg(feature = "plot")]
pub use report::Report;
pub use signals::{EXIT_SIGINT, Interrupted, stop_on_signals};
pub use stdin::args_or_stdin;
pub use values::{batch_size, count, learning_rate, parse};

use std::{error::Error, fmt::Display};

/// Any error; its message is one line.
pub type BoxError = Box<dyn Error>;

/// The error of a device, which is printable but not an [`Error`].
pub fn device_error(error: impl Display) -> BoxError {
    error.to_string().into()
}

/// One error of all that went wrong, or none.
pub fn all<const N: usize>(outcomes: [Outcome; N]) -> Outcome {
    let errors: Vec<String> = outcomes.into_iter().filter_map(|outcome| Some(outcome.err()?.to_string())).collect();
    if errors.is_empty() { Ok(()) } else { Err(errors.join("; ").into()) }
}
