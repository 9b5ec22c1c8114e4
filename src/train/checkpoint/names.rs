//! The names of the files of a checkpoint: the newest, those before it, the best, and those that are set aside.

use crate::weights::{LOCK_SUFFIX, SaveError, atomic::with_suffix, file_id_of, target_of};
use std::path::{Path, PathBuf};
use std::{fs, iter};

/// The end of the name of the best checkpoint.
pub(super) const BEST: &str = ".best";
/// The end of the names of earlier checkpoints, before their number: 1 for the one before the newest.
const PREVIOUS: &str = ".previous-";
/// The end of the name of a file that was set aside: a damaged checkpoint, or a file of another kind.
const DAMAGED: &str = ".damaged";
pub(super) const MAX_PREVIOUS: usize = 100;

/// The path that [`Trainer::checkpoint_every`](crate::train::Trainer::checkpoint_every) got, from that of an earlier
/// checkpoint or of the best one.
///
/// ```
/// use std::path::Path;
/// use typed_transformer::train::checkpoint_of;
/// assert_eq!(checkpoint_of("runs/a.checkpoint.best"), Path::new("runs/a.checkpoint"));
/// assert_eq!(checkpoint_of("a.checkpoint.previous-1"), Path::new("a.checkpoint"));
/// assert_eq!(checkpoint_of("a.checkpoint"), Path::new("a.checkpoint"));
/// ```
#[must_use]
pub fn checkpoint_of(path: impl AsRef<Path>) -> PathBuf {
    let path = path.as_ref();
    let base = path.with_extension("");
    match suffix(&base, path) {
        Some(suffix) if suffix == BEST || suffix.strip_prefix(PREVIOUS).is_some_and(is_number) => base,
        _ => path.to_path_buf(),
    }
}

/// The end of a path behind `base`, if it is text. The rest of the path need not be text.
fn suffix<'a>(base: &Path, path: &'a Path) -> Option<&'a str> {
    let rest = path.as_os_str().as_encoded_bytes().strip_prefix(base.as_os_str().as_encoded_bytes())?;
    str::from_utf8(rest).ok()
}

pub(super) fn previous(newest: &Path, number: usize) -> PathBuf {
    with_suffix(newest, &format!("{PREVIOUS}{number}"))
}

/// The earlier checkpoints and the best, those that exist.
pub(super) fn others_beside(newest: &Path) -> Vec<PathBuf> {
    let previous = (1..=MAX_PREVIOUS).map(|number| previous(newest, number));
    let all = previous.chain([with_suffix(newest, BEST)]);
    all.filter(|path| path.exists()).collect()
}

/// The first of `PATH.damaged`, `PATH.damaged-2`, … that is free, or that is already a second name of the file at
/// `path`.
pub(super) fn set_aside_name(path: &Path) -> PathBuf {
    let name =
        |number: usize| with_suffix(path, &if number == 1 { DAMAGED.into() } else { format!("{DAMAGED}-{number}") });
    let is_same = |other: &Path| file_id_of(path).is_some_and(|id| file_id_of(other) == Some(id));
    let is_free = |path: &PathBuf| fs::symlink_metadata(path).is_err() || is_same(path);
    (1..).map(name).find(is_free).unwrap_or_else(|| name(1))
}

/// The checkpoint that a file belongs to by its name: `PATH` for `PATH.best`, for example.
pub(super) fn base_checkpoint(path: &Path) -> Option<PathBuf> {
    let without_extension = |base: &PathBuf| base.extension().map(|_| base.with_extension(""));
    let bases = iter::successors(Some(path.to_path_buf()), without_extension);
    // For `PATH.best.damaged`, the last base is `PATH`, and not `PATH.best`.
    bases.filter(|base| suffix(base, path).is_some_and(is_suffix)).last()
}

/// Checks that a path is not that of a checkpoint or of one of the files that a training run keeps beside it: the best
/// and the earlier ones, a damaged one, the lock, and one that is being written.
///
/// # Errors
/// [`SaveError::SamePath`] if the two paths are those of one file; [`SaveError::PartOfCheckpoint`] if `path` is that of
/// a file beside the checkpoint.
///
/// ```
/// use typed_transformer::train::ensure_not_of_checkpoint;
/// assert!(ensure_not_of_checkpoint("metrics.jsonl", "run").is_ok());
/// let error = ensure_not_of_checkpoint("run.best", "run").unwrap_err();
/// assert_eq!(error.to_string(), "run.best and a file of the checkpoint run are the same file");
/// ```
pub fn ensure_not_of_checkpoint(path: impl AsRef<Path>, checkpoint: impl AsRef<Path>) -> Result<(), SaveError> {
    let (path, checkpoint) = (path.as_ref(), checkpoint.as_ref());
    let (target, newest) = (target_of(path), target_of(checkpoint));
    if target == newest {
        return Err(SaveError::SamePath { path: path.into(), other: checkpoint.into() });
    }
    match suffix(&newest, &target).is_some_and(is_suffix) {
        true => Err(SaveError::PartOfCheckpoint { path: path.into(), checkpoint: checkpoint.into() }),
        false => Ok(()),
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether the file `PATH{text}` belongs to the checkpoint `PATH`: `.best`, `.previous-1`, `.lock`, `.damaged`,
/// `.best.damaged-2`, `.7.partial` and `.best.7.partial` do.
fn is_suffix(text: &str) -> bool {
    // Each kept file can have a partial one.
    let whole = text.strip_suffix(".partial").and_then(|text| text.rsplit_once('.'));
    match whole {
        Some(("", number)) => is_number(number),
        Some((kept, number)) => is_number(number) && is_suffix(kept),
        None => match text.split_once(DAMAGED) {
            Some((kept, number)) => {
                (kept.is_empty() || is_suffix(kept))
                    && (number.is_empty() || number.strip_prefix('-').is_some_and(is_number))
            }
            None => [BEST, LOCK_SUFFIX].contains(&text) || text.strip_prefix(PREVIOUS).is_some_and(is_number),
        },
    }
}
