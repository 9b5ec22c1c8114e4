//! The errors of training, and what a user should know of a resumed one.

use crate::escape::escape;
use crate::ops::OpError;
use crate::ranks::RanksError;
use crate::weights::{LoadError, SaveError};
use std::fmt;
use std::path::{Path, PathBuf};

/// The error of [`Trainer::update`](super::Trainer::update) and [`Trainer::finish`](super::Trainer::finish).
///
/// ```
/// use typed_transformer::{doctest::*, nn::Linear, prelude::*, train::{GradientsOf, Sgd, Trainer}};
/// let mut model = Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&Cpu::default());
/// let mut trainer = Trainer::new(Sgd::default(), 0.1, 10, 0);
/// let gradients = GradientsOf::zeros(&model).allow_unused(&model);
/// let error = trainer.update(&mut model, gradients, f64::NAN, 4).unwrap_err();
/// assert_eq!(error.to_string(), "the loss is NaN at step 0");
/// # Ok::<(), OpError>(())
/// ```
#[derive(thiserror::Error)]
#[allow(missing_docs, reason = "the fields of a variant are the words of its sentence")]
pub enum TrainError {
    /// The loss is NaN or infinite. The model is as it was before the step. Steps count from 0.
    #[error("the loss is {loss} at step {step}")]
    Loss { step: usize, loss: f64 },
    /// The gradients are not finite. The model is as it was before the step. Steps count from 0.
    #[error("the gradients are not finite (norm {norm}) at step {step}")]
    Gradient { step: usize, norm: f64 },
    /// All steps are made.
    #[error("the training ends after step {steps}")]
    Finished { steps: usize },
    /// The backward pass or the update failed.
    #[error(transparent)]
    Op(OpError),
    /// Other ranks failed, or could not be reached.
    #[error(transparent)]
    Ranks(#[from] RanksError),
    /// A checkpoint could not be written. The previous checkpoint is intact. `saved_at` is a copy that was saved
    /// elsewhere, if any. The next copy replaces this one, or gets a new place if somebody has removed it. This copy
    /// stays if the next one fails.
    #[error("{source}{}", saved_elsewhere(saved_at.as_deref()))]
    Save { source: SaveError, saved_at: Option<PathBuf> },
    /// A line of metrics could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Metrics { path: PathBuf, source: std::io::Error },
    /// Either the model predicts worse than before its training, though its numbers are finite, or its first batch was
    /// an easy one. While the mean loss is so high, no checkpoint is saved, so those from before remain. With
    /// [`loss_may_rise`](super::Trainer::loss_may_rise), such a loss is no error.
    #[error(
        "the training diverged: the mean loss is {mean_loss:.4} after step {steps_made}, but it began at \
         {first_loss:.4}, so no checkpoint is saved any more"
    )]
    Diverged { steps_made: usize, mean_loss: f64, first_loss: f64 },
}
crate::error::debug_by_sentence!(TrainError);

fn saved_elsewhere(path: Option<&Path>) -> String {
    path.map_or(String::new(), |path| format!("; the training is saved at {}", path.display()))
}

/// The error of [`Trainer::resume`](super::Trainer::resume).
///
/// ```
/// use typed_transformer::{doctest::*, nn::Linear, prelude::*, train::{ResumeError, Sgd, Trainer}};
/// type Layer = Linear<EmbedDim, VocabSize, f32, Cpu>;
/// let mut trainer = Trainer::new(Sgd::default(), 0.1, 10, 0);
/// let resumed: Result<Layer, ResumeError> = trainer.resume("no/such/checkpoint", &Cpu::default());
/// assert!(resumed.err().unwrap().to_string().starts_with("cannot read no/such/checkpoint: "));
/// ```
#[derive(thiserror::Error)]
#[allow(missing_docs, reason = "the fields of a variant are the words of its sentence")]
pub enum ResumeError {
    /// The file cannot be read, is damaged, or has other tensors than the training.
    #[error("{}", in_file(path, source))]
    Load { path: PathBuf, source: LoadError },
    /// The file is a valid safetensors file, but it is no checkpoint, or one whose numbers make no sense.
    #[error("{} is not a training checkpoint: {}", path.display(), escape(message))]
    NotACheckpoint { path: PathBuf, message: String },
    /// A parameter has other dimensions. Positions count from 0.
    #[error(
        "{}: dimension {position} of `{tensor}` should be {expected} but is {}",
        path.display(), escape(found)
    )]
    Dimension { path: PathBuf, tensor: String, position: usize, expected: String, found: String },
    /// The checkpoint is beyond the end of the training.
    #[error("{}: {steps_made} steps are made, but the training has only {steps}", path.display())]
    BeyondEnd { path: PathBuf, steps_made: usize, steps: usize },
    /// Something else that determines the result differs: the type of the model, the optimizer, the
    /// schedule, the clip norm, the seed, or a setting of [`require_same`](super::Trainer::require_same).
    #[error("{}: {} should be {expected} but is {}", path.display(), escape(setting), escape(found))]
    Setting { path: PathBuf, setting: String, expected: String, found: String },
}
crate::error::debug_by_sentence!(ResumeError);

impl ResumeError {
    /// Whether reading the file again may succeed.
    pub(super) fn is_transient(&self) -> bool {
        matches!(self, Self::Load { source, .. } if source.is_transient())
    }

    /// Whether the file itself is unusable, rather than of another training run.
    pub(super) fn is_damage(&self) -> bool {
        use LoadError::{Checksum, Format, NotFinite, Read};
        let Self::Load { source, .. } = self else { return matches!(self, Self::NotACheckpoint { .. }) };
        matches!(source, Read { .. } | Format { .. } | Checksum { .. } | NotFinite { .. })
    }
}

/// Prefixes the errors that do not name the file themselves.
fn in_file(path: &Path, error: &LoadError) -> String {
    match error {
        LoadError::Read { .. } | LoadError::Format { .. } => error.to_string(),
        _ => format!("{}: {error}", path.display()),
    }
}

/// A fact about a resumed training run that its user should know. It prints as one line.
///
/// ```
/// use typed_transformer::train::ResumeNote;
/// let note = ResumeNote::Threads { before: 4, now: 8 };
/// assert!(note.to_string().starts_with("the training ran with 4 threads and goes on with 8"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the fields of a variant are the words of its sentence")]
pub enum ResumeNote {
    /// The newest checkpoint is damaged or missing, so the training goes on from an older one.
    OlderCheckpoint { why: String, path: PathBuf, steps_made: usize },
    /// A file has a checkpoint's name but cannot be resumed. It is not overwritten but gets another name: at the next
    /// save if it is at the path of [`checkpoint_every`](crate::train::Trainer::checkpoint_every), at once if it is
    /// beside that.
    SetAside { path: PathBuf, why: &'static str, kept: PathBuf },
    /// The number of threads differs from that of the run before, so the last bits of the results may differ
    /// from those of a training run that never stopped.
    Threads { before: usize, now: usize },
    /// The number of ranks differs from that of the run before, so the last bits of the results may differ too.
    Ranks { before: usize, now: usize },
}

impl fmt::Display for ResumeNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OlderCheckpoint { why, path, steps_made } => {
                write!(f, "{why}; the training goes on from {}, after step {steps_made}", path.display())
            }
            Self::SetAside { path, why, kept } => {
                write!(f, "{} is {why}; it is kept as {}", path.display(), kept.display())
            }
            Self::Threads { before, now } => write_other_number(f, "threads", *before, *now),
            Self::Ranks { before, now } => write_other_number(f, "ranks", *before, *now),
        }
    }
}

fn write_other_number(f: &mut fmt::Formatter<'_>, what: &str, before: usize, now: usize) -> fmt::Result {
    write!(
        f,
        "the training ran with {before} {what} and goes on with {now}, so its last bits may differ from those of an \
         uninterrupted one"
    )
}
