use super::{SaveError, atomic::with_suffix, disk};
use crate::files::ensure_regular_file;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process;

pub(crate) const LOCK_SUFFIX: &str = ".lock";
/// The length of the largest number of a process.
const MAX_LEN_BYTES: u64 = 10;

/// The right of one process to write a file and the files beside it that belong to it. The operating system
/// takes it back when the process ends, however it ends.
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
            let mut file = disk::counted(|| options.open(&path)).map_err(cannot_write)?;
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
            let write = disk::counted(|| file.set_len(0)).and_then(|()| write!(file, "{}", process::id()));
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
            let _ = disk::counted(|| fs::remove_file(&self.path));
        }
    }
}

/// Whether an error of a lock says that the file system has none.
pub(crate) fn has_no_locks(error: &io::Error) -> bool {
    #[cfg(unix)]
    if error.raw_os_error() == Some(rustix::io::Errno::NOLCK.raw_os_error()) {
        return true;
    }
    error.kind() == ErrorKind::Unsupported
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
