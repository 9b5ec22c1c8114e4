//! The checkpoints of one training run: the newest, those before it, and the best.

use super::{Progress, read_progress};
use crate::weights::{
    FileKind, FileLock, LOCK_SUFFIX, SaveError,
    atomic::{self, PartialFile, with_suffix},
    ensure_creatable, file_id_of, file_kind, target_of,
};
use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

/// The end of the name of the best checkpoint.
const BEST: &str = ".best";
/// The end of the names of earlier checkpoints, before their number: 1 for the one before the newest.
const PREVIOUS: &str = ".previous-";
/// The end of the name of a newest checkpoint that was damaged.
const DAMAGED: &str = ".damaged";
/// The most earlier checkpoints.
const MAX_PREVIOUS: usize = 100;

/// The path of the newest checkpoint, given that of an earlier one or of the best: what was given to
/// [`Trainer::checkpoint_every`](crate::train::Trainer::checkpoint_every).
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
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_number = |text: &str| text.parse::<usize>().is_ok();
    let base = name.strip_suffix(BEST).or_else(|| {
        let (base, number) = name.rsplit_once(PREVIOUS)?;
        is_number(number).then_some(base)
    });
    match base {
        Some(base) if !base.is_empty() => path.with_file_name(base),
        _ => path.to_path_buf(),
    }
}

fn previous(newest: &Path, number: usize) -> PathBuf {
    with_suffix(newest, &format!("{PREVIOUS}{number}"))
}

/// The earlier checkpoints and the best, those that exist.
fn older(newest: &Path) -> Vec<PathBuf> {
    let previous = (1..=MAX_PREVIOUS).map(|number| previous(newest, number));
    let all = previous.chain([with_suffix(newest, BEST)]);
    all.filter(|path| path.exists()).collect()
}

/// Whether there is a file that is neither a checkpoint nor empty.
fn is_foreign(path: &Path) -> bool {
    matches!(file_kind(path), FileKind::Weights | FileKind::Other)
}

/// The first of `PATH`, `PATH-2`, `PATH-3`, … at which there is no file.
fn unused(path: &Path) -> PathBuf {
    let numbered = (2..).map(|number| with_suffix(path, &format!("-{number}")));
    let mut paths = std::iter::once(path.to_path_buf()).chain(numbered);
    paths.find(|path| fs::symlink_metadata(path).is_err()).unwrap_or_else(|| path.into())
}

/// The checkpoint that a file belongs to by its name: `PATH` for `PATH.best`, for example.
fn owner(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let mut bases = name.match_indices('.').filter(|&(dot, _)| dot > 0 && is_suffix(&name[dot..]));
    bases.next().map(|(dot, _)| path.with_file_name(&name[..dot]))
}

/// Moves `PATH` to the first free of `PATH.damaged`, `PATH.damaged-2`, ….
fn set_aside(path: &Path) -> io::Result<()> {
    atomic::rename(path, &unused(&with_suffix(path, DAMAGED)))
}

/// Checks that a path is not that of a checkpoint or of one of the files that a training run keeps beside it: the best
/// and the earlier ones, a damaged one, the lock, and one that is being written.
///
/// # Errors
/// [`SaveError::SamePath`] with both.
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
    let name = |path: &Path| path.file_name().unwrap_or_default().as_encoded_bytes().to_vec();
    let (target_name, newest_name) = (name(&target), name(&newest));
    let suffix = target_name.strip_prefix(&newest_name[..]).and_then(|rest| std::str::from_utf8(rest).ok());
    let is_kept = target.parent() == newest.parent() && suffix.is_some_and(is_suffix);
    match is_kept {
        true => Err(SaveError::PartOfCheckpoint { path: path.into(), checkpoint: checkpoint.into() }),
        false => Ok(()),
    }
}

/// Whether the file `PATH{text}` belongs to the checkpoint `PATH`: `.best`, `.previous-1`, `.lock`, `.damaged`,
/// `.best.damaged-2`, `.7.partial` and `.best.7.partial` do.
fn is_suffix(text: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
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

/// The checkpoint that a training run was resumed from, or that it saved last.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) struct Origin {
    path: PathBuf,
    progress: Progress,
    /// Whether the newest checkpoint was damaged, so that this one took its place.
    is_substitute: bool,
}

impl Origin {
    pub fn new(path: &Path, progress: Progress, is_substitute: bool) -> Self {
        Self { path: path.canonicalize().unwrap_or_else(|_| path.into()), progress, is_substitute }
    }
}

/// Writes the checkpoints of one training run, as the only process that does.
#[derive(Debug)]
pub(in super::super) struct Series {
    /// The newest one, as the caller names it.
    path: PathBuf,
    /// The newest one, with all links followed.
    newest: PathBuf,
    /// The number of steps between two checkpoints; 0 for none.
    pub interval: usize,
    /// The progress of the best checkpoint.
    best: Option<Progress>,
    /// The files at the path when this run began.
    before: FoundAtStart,
    _lock: FileLock,
}

/// The files at the path before the first checkpoint of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FoundAtStart {
    /// Nothing, or a checkpoint of this training run.
    Own,
    /// A damaged checkpoint of this training run, or a file of another kind. The next checkpoint sets it aside.
    Damaged,
    /// Files of another training run, or of another kind, that `overwrite` allows to replace.
    Foreign,
}

impl Series {
    /// Takes the lock of `path` and checks that the training may save there. It may if there is no file, if it
    /// comes from one of the checkpoints there, or if `overwrite` is true. Files of another kind at the names of older
    /// checkpoints are set aside.
    pub fn open(path: &Path, interval: usize, overwrite: bool, origin: Option<&Origin>) -> Result<Self, SaveError> {
        ensure_creatable(path)?;
        let cannot_write = |source| SaveError::Write { path: path.into(), source };
        let newest = atomic::resolve_target(path).map_err(cannot_write)?;
        if let Some(checkpoint) = owner(&newest) {
            return Err(SaveError::PartOfCheckpoint { path: path.into(), checkpoint });
        }
        let lock = FileLock::acquire(path, &newest)?;
        let best = with_suffix(&newest, BEST);
        for file in [&newest, &best, &previous(&newest, 1)] {
            atomic::clear_partial(file).map_err(cannot_write)?;
        }

        let exists = |path: &Path, found| Err(SaveError::Exists { path: path.into(), found });
        let origin = origin.filter(|origin| origin.path == newest || checkpoint_of(&origin.path) == newest);
        let found = file_kind(&newest);
        let before = match (origin, found) {
            // Another run may have saved before this one took the lock.
            (Some(origin), _) if !overwrite && read_progress(&origin.path) != Some(origin.progress) => {
                return exists(&origin.path, "no longer the checkpoint that this training run was resumed from");
            }
            (Some(origin), _) if origin.is_substitute && newest.exists() => FoundAtStart::Damaged,
            (Some(_), FileKind::Nothing | FileKind::Checkpoint) => FoundAtStart::Own,
            (Some(_), _) => FoundAtStart::Damaged,
            (None, _) if overwrite => FoundAtStart::Foreign,
            (None, FileKind::Weights) => return exists(path, "a file of weights, not a checkpoint"),
            (None, FileKind::Other) => return exists(path, "not a checkpoint"),
            (None, FileKind::Checkpoint) => return exists(path, "the checkpoint of another training run"),
            (None, FileKind::Nothing) => match older(&newest).first() {
                Some(path) => return exists(path, "the checkpoint of another training run"),
                None => FoundAtStart::Own,
            },
        };
        if before != FoundAtStart::Foreign {
            // The next save would replace what is neither a checkpoint nor empty.
            let mut foreign = older(&newest).into_iter().filter(|path| is_foreign(path));
            foreign.try_for_each(|path| set_aside(&path)).map_err(cannot_write)?;
        }
        let best = if before == FoundAtStart::Foreign { None } else { read_progress(&best) };
        // The other checkpoints are beside the file that a link leads to.
        let path = if path.is_symlink() { newest.clone() } else { path.into() };
        Ok(Self { path, newest, interval, best, before, _lock: lock })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn newest(&self) -> &Path {
        &self.newest
    }

    /// The best checkpoint, if there is one.
    pub fn best(&self) -> Option<PathBuf> {
        self.best.map(|_| with_suffix(&self.path, BEST))
    }

    /// The number of bytes that `max_to_keep` checkpoints and the best of this size need, and one that is being
    /// written, besides those that exist.
    pub fn needed_bytes(&self, len_bytes: u64, max_to_keep: usize) -> u64 {
        let files = older(&self.newest).into_iter().chain([self.newest.clone()]);
        // Two names of one file share its bytes.
        let existing = files.filter_map(|path| file_id_of(&path)).collect::<BTreeSet<_>>().len();
        len_bytes.saturating_mul((max_to_keep + 2).saturating_sub(existing).max(1) as u64)
    }

    /// Makes `partial` the newest checkpoint. At every moment there is a whole one under one of the names.
    pub fn commit(&mut self, partial: PartialFile, progress: Progress, max_to_keep: usize) -> io::Result<()> {
        match self.before {
            // Somebody has put another file there, or it was damaged.
            FoundAtStart::Own if is_foreign(&self.newest) => set_aside(&self.newest)?,
            FoundAtStart::Own => self.keep_previous(max_to_keep)?,
            FoundAtStart::Damaged => {
                set_aside(&self.newest)?;
                // It is away, whatever fails now.
                self.before = FoundAtStart::Own;
            }
            FoundAtStart::Foreign => {}
        }
        partial.commit()?;
        if self.before == FoundAtStart::Foreign {
            older(&self.newest).iter().try_for_each(|path| atomic::remove_if_exists(path))?;
        }
        self.before = FoundAtStart::Own;
        if progress.is_better_than(self.best.as_ref()) {
            atomic::link(&self.newest, &with_suffix(&self.newest, BEST))?;
            self.best = Some(progress);
        }
        Ok(())
    }

    /// Gives the newest checkpoint a second name, so that it remains when it is replaced.
    fn keep_previous(&self, max_to_keep: usize) -> io::Result<()> {
        let last = max_to_keep.clamp(1, MAX_PREVIOUS) - 1;
        for number in last + 1.. {
            let path = previous(&self.newest, number);
            if !path.exists() {
                break;
            }
            atomic::remove_if_exists(&path)?;
        }
        if last == 0 || !self.newest.exists() {
            return Ok(());
        }
        for number in (1..last).rev() {
            let path = previous(&self.newest, number);
            if path.exists() {
                atomic::rename(&path, &previous(&self.newest, number + 1))?;
            }
        }
        atomic::link(&self.newest, &previous(&self.newest, 1))
    }
}

/// The checkpoints to try if `damaged` cannot be read, newest first.
pub(in super::super) fn fallbacks(damaged: &Path) -> Vec<PathBuf> {
    let newest = damaged.canonicalize().unwrap_or_else(|_| damaged.into());
    let steps = older(&newest).into_iter().filter_map(|path| Some((read_progress(&path)?.steps_made, path)));
    let mut found: Vec<_> = steps.collect();
    // A stable sort: at equal steps, a previous checkpoint comes before the best.
    found.sort_by_key(|(steps_made, _)| std::cmp::Reverse(*steps_made));
    found.into_iter().map(|(_, path)| path).collect()
}
