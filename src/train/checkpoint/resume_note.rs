use std::{fmt, path::PathBuf};

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
    /// The newest checkpoint is damaged, so the training goes on from an older one.
    OlderCheckpoint { damage: String, path: PathBuf, steps_made: usize },
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
            Self::OlderCheckpoint { damage, path, steps_made } => {
                write!(f, "{damage}; the training goes on from {}, after step {steps_made}", path.display())
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
