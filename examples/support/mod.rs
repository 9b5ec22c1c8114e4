//! Code that the training examples share: devices, files, Ctrl-C, progress, reports, ranks.

#![allow(dead_code, unused_imports, reason = "each example uses a part of it")]

mod device;
mod files;
mod hints;
mod outputs;
mod progress;
pub mod ranks;
#[cfg(feature = "plot")]
mod report;
mod signals;
mod values;

pub use device::{DeviceName, cuda};
pub use files::{Checkpoints, Files, Outcome, load_weights};
pub use outputs::{ensure_not_input, ensure_not_plot};
pub use progress::{Progress, log, print, stream};
#[cfg(feature = "plot")]
pub use report::Report;
pub use signals::{EXIT_SIGINT, Interrupted, stop_on_signals};
use values::percent;
pub use values::{batch_size, count, learning_rate, parse, power};

use clap::Args;
use dfdx::nn::TensorCollection;
use std::{error::Error, fmt::Display, path::Path, process::ExitCode};
use typed_transformer::{backend::Backend, nn::Module, weights::Loadable};

/// A report needs the feature `plot`; without it, this type has no value.
#[cfg(not(feature = "plot"))]
pub enum Report {}

#[cfg(not(feature = "plot"))]
impl Report {
    pub fn new(_: &Path, _: &str, _: bool) -> Result<Self, BoxError> {
        Err("a report needs the feature `plot`".into())
    }
}

/// Any error; its message is one line.
pub type BoxError = Box<dyn Error>;

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

/// A model that an example trains.
pub trait Trainable<D: Backend<f32>>: Module + Loadable<f32, D> + TensorCollection<f32, D, To<f32, D> = Self> {}

impl<D: Backend<f32>, Model> Trainable<D> for Model where
    Model: Module + Loadable<f32, D> + TensorCollection<f32, D, To<f32, D> = Model>
{
}

/// The error of a device, which is printable but not an [`Error`].
pub fn device_error(error: impl Display) -> BoxError {
    error.to_string().into()
}

/// One error of all that went wrong, or none.
pub fn all(outcomes: impl IntoIterator<Item = Outcome>) -> Outcome {
    let errors: Vec<String> = outcomes.into_iter().filter_map(|outcome| Some(outcome.err()?.to_string())).collect();
    if errors.is_empty() { Ok(()) } else { Err(errors.join("; ").into()) }
}

/// The accuracy that a program must reach.
#[derive(Args)]
pub struct Goal {
    /// Fail if fewer percent are right at the end
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    goal: Option<f64>,
}

/// The percent by which an accuracy may be below the goal that it reaches, because `100 * accuracy` is rounded.
const ROUNDING_ERROR: f64 = 1e-9;

impl Goal {
    /// Fails if there is a goal above the accuracy, a number from 0 to 1. The error says `only 12.3 % {what}`.
    pub fn check(&self, accuracy: f64, what: &str) -> Outcome {
        match self.goal.filter(|goal| 100.0 * accuracy < *goal - ROUNDING_ERROR) {
            Some(goal) => Err(format!("only {:.1} % {what}, not {goal} %; try more --steps", 100.0 * accuracy).into()),
            None => Ok(()),
        }
    }
}
