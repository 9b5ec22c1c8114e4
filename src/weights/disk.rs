//! The file-system calls that read and write checkpoints and weights. Tests make each of them fail in turn.

use super::outputs::is_at;
use std::cell::{Cell, RefCell};
use std::fs::{File, Permissions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::{path::Path, process, thread, time::Duration};

/// A fault that a test injects into a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The call does nothing and fails.
    Error(ErrorKind),
    /// A write stops halfway, and its rest fails. A call that does not write fails at once.
    ShortWrite,
    /// From this call on, every write fails.
    DiskFull,
    /// The process dies.
    Kill,
}

thread_local! {
    /// The faults that have not happened yet, each with the number of its call.
    static FAULTS: RefCell<Vec<(usize, Fault)>> = const { RefCell::new(Vec::new()) };
    static CALLS: Cell<usize> = const { Cell::new(0) };
    static FREE_BYTES: Cell<Option<u64>> = const { Cell::new(None) };
}

/// Counts the calls of this thread from 0 again, and lets each fault happen at the call of its number.
pub fn inject(faults: impl IntoIterator<Item = (usize, Fault)>) {
    CALLS.set(0);
    FAULTS.set(faults.into_iter().collect());
}

/// Lets every disk have this many free bytes for this thread; `None` for the true number.
pub fn inject_free_bytes(free_bytes: Option<u64>) {
    FREE_BYTES.set(free_bytes);
}

/// The number of bytes that are free on the disk of a folder, if the system tells.
pub(super) fn free_bytes(folder: &Path) -> Option<u64> {
    FREE_BYTES.get().or_else(|| true_free_bytes(folder))
}

#[cfg(unix)]
fn true_free_bytes(folder: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(folder).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(not(unix))]
fn true_free_bytes(_: &Path) -> Option<u64> {
    None
}

/// The number of calls of this thread since [`inject`].
pub fn calls() -> usize {
    CALLS.get()
}

/// Counts a call, and injects its fault. Returns how many of the call's `len` bytes are to be written.
fn inject_into_call(len: usize) -> io::Result<usize> {
    let call = CALLS.replace(CALLS.get() + 1);
    FAULTS.with_borrow_mut(|faults| match faults.first().copied() {
        Some((at, Fault::DiskFull)) if call >= at && len > 0 => Err(ErrorKind::StorageFull.into()),
        Some((at, fault)) if at == call => match fault {
            Fault::Error(kind) => {
                faults.remove(0);
                Err(kind.into())
            }
            Fault::ShortWrite if len > 1 => {
                faults[0] = (at + 1, Fault::Error(ErrorKind::StorageFull));
                Ok(len / 2)
            }
            Fault::ShortWrite => Err(ErrorKind::StorageFull.into()),
            Fault::DiskFull => Ok(len),
            Fault::Kill => process::abort(),
        },
        _ => Ok(len),
    })
}

/// Tries again after a transient error, such as that there are too many open files: three times, within a third of a
/// second.
pub(crate) fn retried<T, E>(is_transient: impl Fn(&E) -> bool, mut run: impl FnMut() -> Result<T, E>) -> Result<T, E> {
    for pause_ms in [10, 50, 250] {
        match run() {
            Err(error) if is_transient(&error) => thread::sleep(Duration::from_millis(pause_ms)),
            result => return result,
        }
    }
    run()
}

/// Whether the same call may succeed later. It cannot if the path names no file, or if the disk takes nothing more.
pub(crate) fn is_transient(error: &io::Error) -> bool {
    use ErrorKind::*;
    let permanent = [NotFound, IsADirectory, NotADirectory, InvalidInput];
    let is_refused = [StorageFull, QuotaExceeded, FileTooLarge, ReadOnlyFilesystem];
    !permanent.contains(&error.kind()) && !is_refused.contains(&error.kind())
}

/// Injects the fault of a call, if it has one, and otherwise makes the call.
pub(crate) fn faultable<T>(call: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    inject_into_call(0)?;
    call()
}

pub(super) struct ReadFile(File);

impl ReadFile {
    pub fn open(path: &Path) -> io::Result<Self> {
        faultable(|| File::open(path)).map(Self)
    }

    pub fn len_bytes(&self) -> io::Result<u64> {
        Ok(faultable(|| self.0.metadata())?.len())
    }

    /// Takes the lock of the file, as a writer does, until `self` is dropped. Returns false if a writer has the lock.
    pub fn try_lock(&self) -> bool {
        self.0.try_lock().is_ok()
    }
}

impl Read for ReadFile {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        faultable(|| self.0.read(bytes))
    }
}

impl Seek for ReadFile {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.0.seek(position)
    }
}

/// A file that did not exist before. It is locked until this value is dropped.
pub(super) struct NewFile(File);

impl NewFile {
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = faultable(|| File::create_new(path))?;
        let is_held = match file.try_lock() {
            // A file system may have no locks.
            Ok(()) | Err(TryLockError::Error(_)) => is_at(&file, path),
            Err(TryLockError::WouldBlock) => false,
        };
        // Another process may have taken the file for one that a killed writer left, and removed it.
        if is_held { Ok(Self(file)) } else { Err(ErrorKind::AlreadyExists.into()) }
    }

    pub fn set_permissions(&self, permissions: Permissions) -> io::Result<()> {
        faultable(|| self.0.set_permissions(permissions))
    }

    pub fn sync(&self) -> io::Result<()> {
        sync_file(&self.0, faultable(|| self.0.sync_all()))
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = inject_into_call(bytes.len())?;
        self.0.write(&bytes[..len])
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The result of `sync_all` of a file. On macOS `sync_all` also makes the disk empty its cache. Network file systems
/// refuse that, but have `fsync`.
#[cfg_attr(not(unix), allow(unused_variables, reason = "`fsync` is of Unix"))]
pub(crate) fn sync_file(file: &File, synced: io::Result<()>) -> io::Result<()> {
    match synced {
        #[cfg(unix)]
        Err(error) if is_unsupported(&error) => Ok(rustix::fs::fsync(file)?),
        result => result,
    }
}

/// Whether the file system has no such operation. On macOS it then says ENOTSUP, which `ErrorKind` does not know.
pub(crate) fn is_unsupported(error: &io::Error) -> bool {
    #[cfg(unix)]
    if error.raw_os_error() == Some(rustix::io::Errno::NOTSUP.raw_os_error()) {
        return true;
    }
    error.kind() == ErrorKind::Unsupported
}

/// Makes the names of the files in a folder survive a power cut. Some systems cannot do that.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    inject_into_call(0)?;
    if cfg!(not(unix)) {
        return Ok(());
    }
    match File::open(folder)?.sync_all() {
        Err(error) if is_unsupported(&error) || error.kind() == ErrorKind::InvalidInput => Ok(()),
        result => result,
    }
}
