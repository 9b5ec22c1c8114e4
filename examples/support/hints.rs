//! Errors that name the option that helps.

use super::BoxError;
use typed_transformer::{
    train::{ResumeError, TrainError, Trainer},
    weights::SaveError,
};

/// The loss of a training run, or its gradient, is no longer a number. All ranks have this error.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NotFinite(String);

/// Advice on going on with a training run that has diverged.
pub fn hint<O, S>(trainer: &Trainer<O, S>) -> String {
    match trainer.best_checkpoint() {
        Some(best) => format!(
            "--resume {} --new-schedule goes on from the best checkpoint with a lower --learning-rate",
            best.display()
        ),
        None => "try a lower --learning-rate".into(),
    }
}

/// The text of an error; a divergence gets a hint.
pub fn with_hint(error: &TrainError, hint: &str) -> String {
    match error {
        TrainError::Loss { step, .. } | TrainError::Gradient { step, .. } => {
            // The library counts steps from 0, and progress from 1.
            format!("the loss or its gradient is no longer a number at step {}; {hint}", step + 1)
        }
        TrainError::Diverged { .. } => {
            format!("{error}; {hint}, or --loss-may-rise if the first batch was an easy one")
        }
        error => error.to_string(),
    }
}

/// Names the option that allows an output to be replaced.
pub fn overwrite_hint(error: SaveError) -> BoxError {
    match error {
        SaveError::Exists { found, .. } if found.starts_with("the checkpoint of another training run") => {
            format!("{error}; --resume goes on with it, --overwrite replaces it").into()
        }
        SaveError::Exists { .. } => format!("{error}; --overwrite replaces it").into(),
        error => error.into(),
    }
}

/// Names the option that allows another schedule, or a longer one.
pub fn schedule_hint(error: ResumeError) -> BoxError {
    match &error {
        ResumeError::Setting { setting, .. } if setting == "the schedule" => {
            format!("{error}; --new-schedule accepts that").into()
        }
        ResumeError::BeyondEnd { .. } => format!("{error}; give more --steps").into(),
        _ => error.into(),
    }
}

/// The error of a training step; a diverged training gets a hint.
pub fn step_error<O, S>(error: TrainError, trainer: &Trainer<O, S>) -> BoxError {
    match error {
        TrainError::Loss { .. } | TrainError::Gradient { .. } => NotFinite(with_hint(&error, &hint(trainer))).into(),
        error => error.into(),
    }
}
