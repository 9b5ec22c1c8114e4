use crate::{
    ops::OpError,
    weights::{LoadError, SaveError},
};
use std::path::{Path, PathBuf};

/// Why [`Trainer::update`](super::Trainer::update) failed.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// The loss is NaN or infinite. The model is as it was before the step.
    #[error("the loss is {loss} at step {step}")]
    Loss {
        /// The step, the first being 0.
        step: usize,
        /// The loss.
        loss: f64,
    },
    /// The gradients are not finite. The model is as it was before the step.
    #[error("the gradients are not finite (norm {norm}) at step {step}")]
    Gradient {
        /// The step, the first being 0.
        step: usize,
        /// The global norm of the gradients.
        norm: f64,
    },
    /// The device failed.
    #[error(transparent)]
    Op(OpError),
    /// The step is made, but its checkpoint could not be written. The previous checkpoint is intact.
    #[error(transparent)]
    Save(#[from] SaveError),
    /// The step is made, but its metrics could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Metrics {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
}

/// Why [`Trainer::resume`](super::Trainer::resume) failed.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// The file cannot be read, is damaged, or has other tensors than the training.
    #[error("{}", in_file(path, source))]
    Load {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: LoadError,
    },
    /// The file is a valid safetensors file, but not a checkpoint.
    #[error("{} is not a training checkpoint: {message}", path.display())]
    NotACheckpoint {
        /// The file.
        path: PathBuf,
        /// What is missing.
        message: String,
    },
    /// A parameter has other dimensions.
    #[error(
        "{}: dimension {position} of `{tensor}` should be {expected} but is {found}",
        path.display()
    )]
    Dimension {
        /// The file.
        path: PathBuf,
        /// Path of the parameter.
        tensor: String,
        /// Position of the first dimension that differs, from 0.
        position: usize,
        /// Its name and size in the model.
        expected: String,
        /// Its name and size in the file.
        found: String,
    },
    /// Something else that determines the result differs: the type of the model, the optimizer, the
    /// schedule, the clip norm, the seed, or a setting of [`require_same`](super::Trainer::require_same).
    #[error("{}: {setting} should be {expected} but is {found}", path.display())]
    Setting {
        /// The file.
        path: PathBuf,
        /// The setting that differs.
        setting: String,
        /// Its value in the training.
        expected: String,
        /// Its value in the file.
        found: String,
    },
}

/// Prefixes the errors that do not name the file themselves.
fn in_file(path: &Path, error: &LoadError) -> String {
    match error {
        LoadError::Read { .. } | LoadError::Format { .. } => error.to_string(),
        _ => format!("{}: {error}", path.display()),
    }
}
