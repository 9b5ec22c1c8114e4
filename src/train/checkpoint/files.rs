//! The checkpoints of one training run: the newest, those before it, and the best.
//!
//! `docs/reliability.md` has the four steps of a save, and the files that it leaves if the process ends in one of them:
//! each name leads to a complete checkpoint, and the best one is not lost.

use super::names::{BEST, MAX_PREVIOUS, base_checkpoint, checkpoint_of, others_beside, previous, set_aside_name};
use super::{Progress, progress_in, read_progress};
use crate::files::ensure_regular_file;
use crate::train::ResumeNote;
use crate::weights::atomic::{self, StagedFile, with_suffix};
use crate::weights::{FileKind, FileLock, SaveError, disk, ensure_creatable, file_id_of, file_kind, open_file};
use std::path::{Path, PathBuf};
use std::{collections::BTreeSet, fs, io};

const NOT_RESUMED: &str = "the checkpoint of another training run, or of this one, which was not resumed from it";

/// The checkpoint that a training run was resumed from, or that it saved last.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) struct LastCheckpoint {
    path: PathBuf,
    progress: Progress,
    /// Whether the newest checkpoint was damaged or missing, so that this one took its place.
    is_substitute: bool,
    /// The progress of the older checkpoint, which stayed at the path, if this one is the copy, elsewhere, of one that
    /// the disk refused.
    pub stayed: Option<Progress>,
}

impl LastCheckpoint {
    pub fn new(path: &Path, progress: Progress, is_substitute: bool) -> Self {
        let path = path.canonicalize().unwrap_or_else(|_| path.into());
        Self { path, progress, is_substitute, stayed: None }
    }
}

/// Writes the checkpoints of one training run, as the only process that does.
#[derive(Debug)]
pub(in super::super) struct CheckpointFiles {
    /// The caller's path of the newest checkpoint, or `newest` if that path is a link.
    pub path: PathBuf,
    /// The path of the newest checkpoint, with all links followed.
    pub newest: PathBuf,
    /// The progress of the newest checkpoint, if it is one of this training run.
    pub newest_progress: Option<Progress>,
    /// The number of steps between two checkpoints; with 0, one is saved only when the training is stopped.
    pub interval: usize,
    /// The progress of the best checkpoint.
    best: Option<Progress>,
    /// What is at the path, unless somebody has changed it since.
    at_path: Occupant,
    /// The files that were set aside, or will be.
    pub notes: Vec<ResumeNote>,
    _lock: FileLock,
}

/// What the next checkpoint finds at the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Occupant {
    /// Nothing, or a checkpoint of this training run.
    OwnOrNothing,
    /// A damaged checkpoint of this training run, or a file of another kind. The next checkpoint sets it aside.
    ToSetAside,
    /// Files of another training run or of another kind, if any, that `overwrite` allows to replace.
    ToReplace,
}

impl CheckpointFiles {
    /// Takes the lock of `path` and checks that the training may save there. It may if there is no file, if it was
    /// resumed from one of the checkpoints there, or if `overwrite` is true. Files of another kind at the names of
    /// older checkpoints are set aside.
    pub fn open(
        path: &Path,
        interval: usize,
        overwrite: bool,
        last_checkpoint: Option<&LastCheckpoint>,
    ) -> Result<Self, SaveError> {
        ensure_creatable(path)?;
        let newest = atomic::resolve_target(path).map_err(cannot_write(path))?;
        // The disk says now whether it takes the longest name that a save may make, with the most checkpoints kept.
        let longest = with_suffix(&previous(&newest, MAX_PREVIOUS), ".0.partial");
        longest.try_exists().map_err(cannot_write(path))?;
        if let Some(checkpoint) = base_checkpoint(&newest) {
            return Err(SaveError::PartOfCheckpoint { path: path.into(), checkpoint });
        }
        let lock = FileLock::acquire(path, &newest)?;
        let best = with_suffix(&newest, BEST);
        for file in [&newest, &best, &previous(&newest, 1)] {
            if let Ok(found) = fs::metadata(file) {
                ensure_regular_file(&found).map_err(cannot_write(file))?;
            }
            atomic::remove_all_abandoned(file);
        }

        let exists = |path: &Path, found| Err(SaveError::Exists { path: path.into(), found });
        // The checkpoint may be the caller's own: `resume` comes before `checkpoint_every`.
        let not_resumed = |path: &Path| exists(path, description_of(path, NOT_RESUMED));
        let (found, file) = open_file(&newest);
        let newest_progress = file.and_then(|file| progress_in(&file));
        // The copy of a refused checkpoint knows the progress of the one that stayed here; that of another run has
        // other losses. Only another name of it, such as the best's, may be left: somebody may have made room.
        let is_here = |stayed: Progress| match found {
            FileKind::Nothing => others_beside(&newest).iter().any(|path| read_progress(path) == Some(stayed)),
            _ => newest_progress == Some(stayed),
        };
        let was_refused_here = |last: &LastCheckpoint| last.stayed.is_some_and(is_here);
        let last_checkpoint = last_checkpoint
            .filter(|last| last.path == newest || checkpoint_of(&last.path) == newest || was_refused_here(last));
        let progress_of = |path: &Path| if *path == newest { newest_progress } else { read_progress(path) };
        let at_path = match (last_checkpoint, found) {
            // Another run may have saved before this one took the lock.
            (Some(last), _) if !overwrite && progress_of(&last.path) != Some(last.progress) => {
                return exists(&last.path, "no longer the checkpoint that this training run was resumed from");
            }
            (Some(last), _) if last.is_substitute && newest.exists() => Occupant::ToSetAside,
            (Some(_), FileKind::Nothing | FileKind::Checkpoint) => Occupant::OwnOrNothing,
            (Some(_), _) => Occupant::ToSetAside,
            (None, _) if overwrite => Occupant::ToReplace,
            (None, FileKind::Weights | FileKind::Other | FileKind::Checkpoint) => return not_resumed(path),
            (None, FileKind::Nothing) => match others_beside(&newest).first() {
                Some(path) => return not_resumed(path),
                None => Occupant::OwnOrNothing,
            },
        };
        let mut notes = Vec::new();
        if at_path != Occupant::ToReplace {
            // The next save replaces the files under these names, so files of another kind are set aside now.
            for path in others_beside(&newest).into_iter().filter(|path| is_other_kind(path)) {
                let note = set_aside_note(&path);
                disk::faultable(|| fs::rename(&path, set_aside_name(&path))).map_err(cannot_write(&path))?;
                notes.push(note);
            }
        }
        if at_path == Occupant::ToSetAside {
            notes.push(set_aside_note(&newest));
        }
        let best = if at_path == Occupant::ToReplace { None } else { read_progress(&best) };
        let newest_progress = newest_progress.filter(|_| at_path == Occupant::OwnOrNothing);
        // The other checkpoints are beside the file that a link leads to.
        let path = if path.is_symlink() { newest.clone() } else { path.into() };
        let mut files = Self { path, newest, newest_progress, interval, best, at_path, notes, _lock: lock };
        // The best may be missing: its name could not be given, the run before ended just after it replaced another
        // run's checkpoints, or somebody has removed it.
        files.link_newest_if_best()?;
        Ok(files)
    }

    /// The best checkpoint, if there is one.
    pub fn best(&self) -> Option<PathBuf> {
        self.best.map(|_| with_suffix(&self.path, BEST))
    }

    /// The bytes that are still needed: those of `max_to_keep` checkpoints of this size, the best and one that is being
    /// written, less those of the files that exist.
    pub fn needed_bytes(&self, len_bytes: u64, max_to_keep: usize) -> u64 {
        let files = others_beside(&self.newest).into_iter().chain([self.newest.clone()]);
        // Two names of one file share its bytes.
        let existing = files.filter_map(|path| file_id_of(&path)).collect::<BTreeSet<_>>().len();
        let needed = (max_to_keep.clamp(1, MAX_PREVIOUS) + 2).saturating_sub(existing);
        len_bytes.saturating_mul(needed.max(1) as u64)
    }

    /// Gives the completely written file `staged` the name of the newest. No name ever leads to an incomplete file.
    pub fn make_newest(
        &mut self,
        mut staged: StagedFile,
        progress: Progress,
        max_to_keep: usize,
    ) -> Result<(), SaveError> {
        // The newest is replaced below. It first gets the name of the best, if it is the best and does not have that
        // name yet.
        self.link_newest_if_best()?;
        // Step 2.
        match self.at_path {
            Occupant::OwnOrNothing if !is_other_kind(&self.newest) => self.keep_previous(max_to_keep),
            // Somebody has put another file there, or it was damaged.
            Occupant::OwnOrNothing | Occupant::ToSetAside => set_aside(&self.newest),
            Occupant::ToReplace => {
                others_beside(&self.newest).iter().try_for_each(|path| atomic::remove_if_exists(path))
            }
        }
        .map_err(cannot_write(&self.path))?;
        let is_best = progress.is_better_than(self.best.as_ref());
        // Steps 3 and 4. 4 comes first if the newest file may be another run's (`overwrite`): after a kill between the
        // two, a `.best` that was made first would seem to be that run's.
        let names_best_first = self.at_path != Occupant::ToReplace;
        let mut linked = if is_best && names_best_first { self.link_best(&staged.path, progress) } else { Ok(()) };
        staged.rename().map_err(cannot_write(&self.path))?;
        // Set before anything else can fail: otherwise a second try would take the new file for the previous
        // checkpoint.
        (self.at_path, self.newest_progress) = (Occupant::OwnOrNothing, Some(progress));
        staged.sync_name().map_err(cannot_write(&self.path))?;
        // A link that failed is tried again here, because the error may be transient, and the caller does not repeat a
        // save once the newest has its name.
        if linked.is_err() || !names_best_first {
            linked = self.link_newest_if_best();
        }
        linked
    }

    /// Gives the newest the name of the best if it is the best and does not have that name.
    fn link_newest_if_best(&mut self) -> Result<(), SaveError> {
        match self.newest_progress {
            Some(progress) if progress.is_better_than(self.best.as_ref()) => {
                self.link_best(&self.newest.clone(), progress)
            }
            _ => Ok(()),
        }
    }

    /// Whether the newest checkpoint has this progress.
    pub fn is_newest(&self, progress: Progress) -> bool {
        self.newest_progress == Some(progress)
    }

    fn link_best(&mut self, checkpoint: &Path, progress: Progress) -> Result<(), SaveError> {
        atomic::link(checkpoint, &with_suffix(&self.newest, BEST))
            .map_err(cannot_write(&with_suffix(&self.path, BEST)))?;
        self.best = Some(progress);
        Ok(())
    }

    /// Gives the newest checkpoint a second name, so that its file remains when another file gets its first name.
    fn keep_previous(&self, max_to_keep: usize) -> io::Result<()> {
        let last = max_to_keep.clamp(1, MAX_PREVIOUS) - 1;
        let surplus = (last + 1..).map(|number| previous(&self.newest, number));
        surplus.take_while(|path| path.exists()).try_for_each(|path| atomic::remove_if_exists(&path))?;
        let is_kept = file_id_of(&self.newest) == file_id_of(&previous(&self.newest, 1));
        if last == 0 || !self.newest.exists() || is_kept {
            return Ok(());
        }
        for number in (1..last).rev() {
            let path = previous(&self.newest, number);
            if path.exists() {
                disk::faultable(|| fs::rename(&path, previous(&self.newest, number + 1)))?;
            }
        }
        atomic::link(&self.newest, &previous(&self.newest, 1))
    }
}

/// The checkpoints to try if `unreadable` cannot be read, newest first.
pub(in super::super) fn fallbacks(unreadable: &Path) -> Vec<PathBuf> {
    let newest = unreadable.canonicalize().unwrap_or_else(|_| unreadable.into());
    let steps = others_beside(&newest).into_iter().filter_map(|path| Some((read_progress(&path)?.steps_made, path)));
    let mut found: Vec<_> = steps.collect();
    // A stable sort: at equal steps, a previous checkpoint comes before the best.
    found.sort_by_key(|(steps_made, _)| std::cmp::Reverse(*steps_made));
    found.into_iter().map(|(_, path)| path).collect()
}

fn cannot_write(path: &Path) -> impl Fn(io::Error) -> SaveError {
    move |source| SaveError::Write { path: path.into(), source }
}

/// Says, for an error or a note, what kind of file is in the place of a checkpoint of this training run. `checkpoint`
/// is what it says of a checkpoint.
pub(in super::super) fn description_of(path: &Path, checkpoint: &'static str) -> &'static str {
    match file_kind(path) {
        FileKind::Weights => "a file of weights, not a checkpoint",
        FileKind::Other => "not a checkpoint",
        FileKind::Checkpoint | FileKind::Nothing => checkpoint,
    }
}

fn set_aside_note(path: &Path) -> ResumeNote {
    ResumeNote::SetAside { path: path.into(), why: description_of(path, "damaged"), kept: set_aside_name(path) }
}

/// Keeps a file under a second name before the next checkpoint replaces it: the first free one of `PATH.damaged`,
/// `PATH.damaged-2`, ….
fn set_aside(path: &Path) -> io::Result<()> {
    let kept = set_aside_name(path);
    if kept.exists() || !path.exists() {
        return Ok(());
    }
    // On a disk without hard links `link_new` copies, and a file that cannot be read cannot be copied.
    atomic::link_new(path, &kept).or_else(|_| disk::faultable(|| fs::rename(path, &kept)))
}

/// Whether there is a file that is neither a checkpoint nor empty.
fn is_other_kind(path: &Path) -> bool {
    matches!(file_kind(path), FileKind::Weights | FileKind::Other)
}
