//! Code that the training examples share: devices, files, Ctrl-C, progress, words from standard input, reports.

#![allow(dead_code, unused_imports, reason = "each example uses a part of it")]

mod device;
mod files;
mod progress;
#[cfg(feature = "plot")]
mod report;
mod stdin;

pub use device::{DeviceName, cuda};
pub use files::{Files, Interrupted, check_interrupted, load_weights};
pub use progress::{Progress, log, print};
#[cfg(feature = "plot")]
pub use report::Report;
pub use stdin::args_or_stdin;

use std::{error::Error, fmt::Display, process::ExitCode};
use typed_transformer::train::TrainError;

/// Any error; its message is one line.
pub type BoxError = Box<dyn Error>;

/// The exit status of a program that Ctrl-C ended, as shells report it: 128 + SIGINT.
const EXIT_SIGINT: u8 = 130;

/// More sequences per batch would only fill the memory.
const MAX_BATCH: usize = 10_000;

/// Logs the error, if any, and returns the exit status: 0, 1 for an error, 130 after Ctrl-C.
pub fn exit_code(result: Result<(), BoxError>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is::<Interrupted>() => {
            log(&error.to_string());
            ExitCode::from(EXIT_SIGINT)
        }
        Err(error) => {
            log(&format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// The error of a device, which is printable but not an [`Error`].
pub fn device_error(error: impl Display) -> BoxError {
    error.to_string().into()
}

/// The error of a training step; a diverged training gets a hint.
pub fn step_error(error: TrainError) -> BoxError {
    match error {
        TrainError::Loss { step, .. } | TrainError::Gradient { step, .. } => {
            format!("the loss or its gradient is no longer a number at step {step}; try a lower --learning-rate").into()
        }
        error => error.into(),
    }
}

/// Parses `--batch`.
pub fn batch_size(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("it must be at least 1".into()),
        Ok(number @ ..=MAX_BATCH) => Ok(number),
        Ok(_) => Err(format!("it must be at most {MAX_BATCH}")),
        Err(error) => Err(format!("{error}")),
    }
}

/// Parses a learning rate that must be positive.
pub fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok(number),
        Ok(_) => Err("it must be above 0 and finite".into()),
        Err(error) => Err(error.to_string()),
    }
}
