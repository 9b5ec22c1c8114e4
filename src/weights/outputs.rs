//! Checks before a file is written: that nothing else is lost, that there is room, and that no other process writes it.
//! The folder of temporary files for what a disk refuses is here, too.

use super::atomic::{StagedFile, folder, resolve_target, with_suffix};
use super::disk::{self, free_bytes, is_transient, retried};
use super::{SaveError, TRAINING, TensorFile};
use crate::files::ensure_regular_file;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{collections::BTreeMap, env, process};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    /// No file, an empty file, or what is not a file, such as a folder. Writing to a folder fails with an error of its
    /// own.
    Nothing,
    /// Weights: a safetensors file.
    Weights,
    /// A safetensors file with a training run in its metadata.
    Checkpoint,
    /// Anything else.
    Other,
}

/// The kind of the file at `path`. Only its header is read.
pub(crate) fn file_kind(path: &Path) -> FileKind {
    open_file(path).0
}

/// The kind of the file at `path`, and the file if it is a safetensors file.
pub(crate) fn open_file(path: &Path) -> (FileKind, Option<TensorFile>) {
    match retried(is_transient, || disk::faultable(|| fs::metadata(path))) {
        Ok(found) if found.is_file() && found.len() > 0 => match TensorFile::open_retried(path) {
            Ok(file) if file.metadata().contains_key(TRAINING) => (FileKind::Checkpoint, Some(file)),
            Ok(file) => (FileKind::Weights, Some(file)),
            Err(_) => (FileKind::Other, None),
        },
        Ok(_) => (FileKind::Nothing, None),
        Err(error) if is_transient(&error) => (FileKind::Other, None),
        Err(_) => (FileKind::Nothing, None),
    }
}

/// Checks that a file at `path` may be replaced by weights.
pub(super) fn ensure_no_other_kind(path: &Path) -> Result<(), SaveError> {
    let exists = |found| Err(SaveError::Exists { path: path.into(), found });
    match file_kind(path) {
        FileKind::Nothing | FileKind::Weights => Ok(()),
        FileKind::Checkpoint => exists("the checkpoint of a training run"),
        FileKind::Other => exists("not a file of weights"),
    }
}

/// Checks that [`save`](super::save) can write `path`, without changing a file that is there. It lets a
/// long training fail at its beginning instead of its end.
///
/// # Errors
/// [`SaveError::Write`] if the file cannot be written; [`SaveError::Exists`] if there is a file other than
/// weights.
///
/// ```
/// use typed_transformer::weights::ensure_writable;
/// assert!(ensure_writable(std::env::temp_dir().join("weights.safetensors")).is_ok());
/// assert!(ensure_writable("/no/such/folder/weights.safetensors").is_err());
/// ```
pub fn ensure_writable(path: impl AsRef<Path>) -> Result<(), SaveError> {
    let path = path.as_ref();
    ensure_creatable(path)?;
    ensure_no_other_kind(path)
}

/// Checks that a new version of the file at `path` can be created beside it.
pub(crate) fn ensure_creatable(path: &Path) -> Result<(), SaveError> {
    // Dropping the partial file removes it.
    StagedFile::create(path).map(drop).map_err(|source| SaveError::Write { path: path.into(), source })
}

/// Checks that no two of the paths are the same file, also by another spelling or through a link, hard or symbolic.
///
/// # Errors
/// [`SaveError::SamePath`] with the first two that are.
///
/// ```
/// use typed_transformer::weights::ensure_distinct;
/// assert!(ensure_distinct(["weights", "metrics"]).is_ok());
/// let error = ensure_distinct(["weights", "metrics", "./weights"]).unwrap_err();
/// assert_eq!(error.to_string(), "weights and ./weights are the same file");
/// ```
pub fn ensure_distinct(paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Result<(), SaveError> {
    let (mut targets, mut ids) = (BTreeMap::new(), BTreeMap::new());
    for path in paths {
        let path = path.as_ref().to_path_buf();
        let of_target = targets.insert(target_of(&path), path.clone());
        let of_id = file_id_of(&path).and_then(|id| ids.insert(id, path.clone()));
        if let Some(other) = of_target.or(of_id) {
            return Err(SaveError::SamePath { path: other, other: path });
        }
    }
    Ok(())
}

/// The file that a path names, with links followed. A path that does not resolve is its own target; writing it reports
/// why.
pub(crate) fn target_of(path: &Path) -> PathBuf {
    resolve_target(path).or_else(|_| fs::canonicalize(path)).unwrap_or_else(|_| path.into())
}

/// The identity of a file: two paths with the same one are names of one file. `None` if there is no file.
#[cfg(unix)]
pub(crate) fn file_id_of(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let found = fs::metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

/// Elsewhere each path counts as a file of its own.
#[cfg(not(unix))]
pub(crate) fn file_id_of(path: &Path) -> Option<PathBuf> {
    path.exists().then(|| path.into())
}

/// Saves a file in a new folder of temporary files, under the name of the file at `refused`. Returns its path.
pub(crate) fn in_private_folder(
    refused: &Path,
    save: impl FnOnce(&Path) -> Result<(), SaveError>,
) -> Result<PathBuf, SaveError> {
    let folder = private_folder().map_err(|source| SaveError::Write { path: env::temp_dir(), source })?;
    let path = folder.join(refused.file_name().unwrap_or_default());
    // The caller needs the error that came before, not one of removing the folder.
    save(&path).inspect_err(|_| drop(fs::remove_dir(&folder)))?;
    Ok(path)
}

/// Removes a file that [`in_private_folder`] saved, and its folder. What cannot be removed does no harm.
pub(crate) fn remove_private_file(path: &Path) {
    let _ = fs::remove_file(path).and_then(|()| fs::remove_dir(folder(path)));
}

/// Makes a folder for temporary files that only its user can read. A process uses each name once, so that it never
/// removes a newer folder in place of one that is gone.
fn private_folder() -> io::Result<PathBuf> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("typed-transformer-{}-{number}", process::id()));
        match builder.create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (),
            result => return result.map(|()| path),
        }
    }
}

/// Checks that the disk of `path`, or of the file that it links to, has room for `needed_bytes` more. If the system
/// does not report the free space, the check passes.
///
/// # Errors
/// [`SaveError::Space`] with both numbers.
///
/// ```
/// use typed_transformer::weights::ensure_space;
/// let path = std::env::temp_dir().join("weights.safetensors");
/// assert!(ensure_space(&path, 1).is_ok());
/// # if cfg!(unix) {
/// assert!(ensure_space(&path, u64::MAX).is_err());
/// # }
/// ```
pub fn ensure_space(path: impl AsRef<Path>, needed_bytes: u64) -> Result<(), SaveError> {
    let path = path.as_ref();
    match free_bytes(folder(&target_of(path))) {
        Some(free_bytes) if free_bytes < needed_bytes => {
            Err(SaveError::Space { path: path.into(), needed_bytes, free_bytes })
        }
        _ => Ok(()),
    }
}

pub(crate) const LOCK_SUFFIX: &str = ".lock";
/// The number of digits of the largest process ID.
const MAX_LEN_BYTES: u64 = 10;

/// The right of one process to write a file and the files beside it that belong to it. The operating system takes this
/// right back when the process ends, however it ends.
///
/// It is a lock on a file `PATH.lock`, which holds the ID of the process. On a file system without
/// locks, it does nothing. A file of that name with anything but a process ID is not a lock, and stays as it is.
#[derive(Debug)]
pub(crate) struct FileLock {
    path: PathBuf,
    /// Closing it ends the lock. `None` without locks.
    file: Option<File>,
}

impl FileLock {
    /// Takes the lock of the file at `target`. Errors call it `name`.
    pub fn acquire(name: &Path, target: &Path) -> Result<Self, SaveError> {
        let path = with_suffix(target, LOCK_SUFFIX);
        let cannot_write = |source| SaveError::Write { path: path.clone(), source };
        loop {
            if let Ok(found) = fs::symlink_metadata(&path) {
                ensure_regular_file(&found).map_err(cannot_write)?;
            }
            let mut options = OpenOptions::new();
            let options = options.read(true).write(true).create(true).truncate(false);
            let mut file = disk::faultable(|| options.open(&path)).map_err(cannot_write)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(SaveError::Locked { path: name.into(), process: holder(file) });
                }
                Err(TryLockError::Error(error)) if has_no_locks(&error) => {
                    ensure_lock(&mut file).map_err(cannot_write)?;
                    return Ok(Self { path, file: None });
                }
                Err(TryLockError::Error(error)) => return Err(cannot_write(error)),
            }
            // The holder before may have removed the file after it was opened here.
            if !is_at(&file, &path) {
                continue;
            }
            ensure_lock(&mut file).map_err(cannot_write)?;
            let write = disk::faultable(|| file.set_len(0)).and_then(|()| write!(file, "{}", process::id()));
            write.map_err(cannot_write)?;
            return Ok(Self { path, file: Some(file) });
        }
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // If somebody removed this file by hand, the one at its path is the lock of another process.
        if self.file.as_ref().is_none_or(|file| is_at(file, &self.path)) {
            // A file that is left does no harm: the lock ended with its process.
            let _ = disk::faultable(|| fs::remove_file(&self.path));
        }
    }
}

/// Whether the error of a lock says that the file system has no locks.
pub(crate) fn has_no_locks(error: &io::Error) -> bool {
    #[cfg(unix)]
    if error.raw_os_error() == Some(rustix::io::Errno::NOLCK.raw_os_error()) {
        return true;
    }
    disk::is_unsupported(error)
}

/// Checks that a file has the content of a lock, or none.
fn ensure_lock(file: &mut File) -> io::Result<()> {
    let mut content = Vec::new();
    file.rewind()?;
    file.take(MAX_LEN_BYTES + 1).read_to_end(&mut content)?;
    file.rewind()?;
    match content.len() as u64 <= MAX_LEN_BYTES && content.iter().all(u8::is_ascii_digit) {
        true => Ok(()),
        false => Err(io::Error::new(ErrorKind::AlreadyExists, "it is not the lock of a checkpoint")),
    }
}

/// The process that the file of a lock names.
fn holder(mut file: File) -> Option<u32> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(16).read_to_string(&mut text).ok()?;
    text.parse().ok()
}

/// Whether the open file is still the one at `path`.
#[cfg(unix)]
pub(super) fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |found: fs::Metadata| (found.dev(), found.ino());
    let ids = (file.metadata().map(id), fs::metadata(path).map(id));
    matches!(ids, (Ok(open), Ok(found)) if open == found)
}

/// Other systems do not remove a file that is open.
#[cfg(not(unix))]
pub(super) fn is_at(_: &File, _: &Path) -> bool {
    true
}
