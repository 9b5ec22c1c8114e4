//! The file-system calls of a save. Tests make each of them fail in turn.

use std::{
    cell::Cell,
    fs::{self, File, Permissions},
    io::{self, ErrorKind, Write},
    path::Path,
    process,
};

/// A fault that a test injects into a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The call does nothing and fails.
    Error(ErrorKind),
    /// A write stops halfway, and the rest of it fails. Another call fails.
    ShortWrite,
    /// From this call on, every write fails.
    DiskFull,
    /// The process dies.
    Kill,
}

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
    static FREE_BYTES: Cell<Option<u64>> = const { Cell::new(None) };
    static FAULT: Cell<Option<(usize, Fault)>> = const { Cell::new(None) };
}

/// Counts the calls of this thread from 0 again, and lets `fault` happen at the call of this number.
pub fn inject(fault: Option<(usize, Fault)>) {
    CALLS.set(0);
    FAULT.set(fault);
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

/// Counts a call. Returns how many of the `len` bytes that it writes are to be written.
fn count(len: usize) -> io::Result<usize> {
    let call = CALLS.replace(CALLS.get() + 1);
    match FAULT.get() {
        Some((at, Fault::DiskFull)) if call >= at && len > 0 => Err(ErrorKind::StorageFull.into()),
        Some((at, fault)) if at == call => match fault {
            Fault::Error(kind) => Err(kind.into()),
            Fault::ShortWrite if len > 1 => {
                FAULT.set(Some((at + 1, Fault::Error(ErrorKind::StorageFull))));
                Ok(len / 2)
            }
            Fault::ShortWrite => Err(ErrorKind::StorageFull.into()),
            Fault::DiskFull => Ok(len),
            Fault::Kill => process::abort(),
        },
        _ => Ok(len),
    }
}

/// A file that did not exist before.
pub(super) struct NewFile(File);

impl NewFile {
    pub fn create(path: &Path) -> io::Result<Self> {
        count(0)?;
        File::create_new(path).map(Self)
    }

    pub fn set_permissions(&self, permissions: Permissions) -> io::Result<()> {
        count(0)?;
        self.0.set_permissions(permissions)
    }

    pub fn sync(&self) -> io::Result<()> {
        count(0)?;
        self.0.sync_all()
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = count(bytes.len())?;
        self.0.write(&bytes[..len])
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub(super) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    count(0)?;
    fs::rename(from, to)
}

pub(super) fn hard_link(from: &Path, to: &Path) -> io::Result<()> {
    count(0)?;
    fs::hard_link(from, to)
}

pub(super) fn remove(path: &Path) -> io::Result<()> {
    count(0)?;
    fs::remove_file(path)
}

/// Makes the names of the files in a folder survive a power cut. Some systems cannot do that.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    count(0)?;
    if cfg!(not(unix)) {
        return Ok(());
    }
    match File::open(folder)?.sync_all() {
        Err(error) if matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::InvalidInput) => Ok(()),
        result => result,
    }
}
