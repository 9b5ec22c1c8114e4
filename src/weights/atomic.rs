//! Replaces files atomically: first a partial file beside the target is written, then it is renamed.

use super::disk::{self, NewFile, ReadFile, faultable};
use super::header;
use crate::files::ensure_regular_file;
use std::fs;
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// A new version of a file under a name of its own, until [`commit`](Self::commit) renames it. Dropping it before that
/// removes the file.
pub(crate) struct StagedFile {
    target: PathBuf,
    /// Its path until it is renamed.
    pub path: PathBuf,
    /// Keeps the file locked, so that no other writer takes it for one that a killed writer left.
    file: NewFile,
    is_renamed: bool,
}

impl StagedFile {
    /// Writes and syncs the new content of the file at `path`. The new file has the permissions of the old one.
    pub fn write(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<Self> {
        let mut partial = Self::create(path)?;
        remove_all_abandoned(&partial.target);
        let file = &mut partial.file;
        // Set before the content is written, so that nobody can read it who could not read the old file.
        if let Ok(old) = fs::metadata(&partial.target) {
            file.set_permissions(old.permissions())?;
        }
        let mut writer = BufWriter::with_capacity(1 << 20, file);
        content(&mut writer)?;
        writer.into_inner()?.sync()?;
        Ok(partial)
    }

    /// Renames it, so that a reader finds the old file or the new one at any moment, also after a crash.
    pub fn commit(mut self) -> io::Result<()> {
        self.rename()?;
        self.sync_name()
    }

    /// The first part of [`commit`](Self::commit): from now on a reader finds the new file.
    pub fn rename(&mut self) -> io::Result<()> {
        faultable(|| fs::rename(&self.path, &self.target))?;
        // From now on another writer may use the name of the partial file.
        self.is_renamed = true;
        Ok(())
    }

    /// The second part of [`commit`](Self::commit): the name survives a power cut.
    pub fn sync_name(&self) -> io::Result<()> {
        disk::retried(disk::is_transient, || disk::sync_folder(folder(&self.target)))
    }

    /// An empty file, under a name that no other writer uses.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let target = resolve_target(path)?;
        let mut number = 0;
        loop {
            let path = with_suffix(&target, &format!(".{number}.partial"));
            match NewFile::create(&path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
                file => return Ok(Self { target, path, file: file?, is_renamed: false }),
            }
        }
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        if !self.is_renamed {
            // The caller needs the error that came before, not this one.
            let _ = faultable(|| fs::remove_file(&self.path));
        }
    }
}

/// Makes `to` another name of the file `from`, replacing `to` atomically. Where a file cannot have two
/// names, `to` becomes a copy. No other process may be writing to `to`.
pub(crate) fn link(from: &Path, to: &Path) -> io::Result<()> {
    // The file is created only to find a name that nobody uses: a hard link needs a name without a file.
    let link = StagedFile::create(to)?;
    faultable(|| fs::remove_file(&link.path))?;
    if faultable(|| fs::hard_link(from, &link.path)).is_err() {
        drop(link);
        return copy(from, to);
    }
    // If both are names of one file already, a rename does nothing, and dropping `link` removes the partial name.
    faultable(|| fs::rename(&link.path, &link.target))
}

/// [`link`] if nothing is at `to`. No partial file is made where a file can have two names, so a kill leaves none.
pub(crate) fn link_new(from: &Path, to: &Path) -> io::Result<()> {
    faultable(|| fs::hard_link(from, to)).or_else(|_| copy(from, to))
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    StagedFile::write(to, |file| io::copy(&mut ReadFile::open(from)?, file).map(drop))?.commit()
}

pub(crate) fn remove_if_exists(path: &Path) -> io::Result<()> {
    match faultable(|| fs::remove_file(path)) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(suffix);
    path.with_file_name(name)
}

pub(crate) fn folder(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// Removes the partial files that killed writers of `target` left beside it: those that no writer holds and that are
/// empty or begin as a safetensors file does. What cannot be removed now is removed by a later writer.
pub(crate) fn remove_all_abandoned(target: &Path) {
    let name = target.file_name().unwrap_or_default();
    let is_number = |n: &[u8]| !n.is_empty() && n.iter().all(u8::is_ascii_digit);
    let entries = faultable(|| fs::read_dir(folder(target)));
    for entry in entries.into_iter().flatten().flatten() {
        let entry = entry.file_name();
        let number = entry
            .as_encoded_bytes()
            .strip_prefix(name.as_encoded_bytes())
            .and_then(|rest| rest.strip_prefix(b"."))
            .and_then(|rest| rest.strip_suffix(b".partial"));
        let path = target.with_file_name(&entry);
        if number.is_some_and(is_number) {
            let _ = remove_abandoned(&path);
        }
    }
}

/// Removes a file if it is one that a killed writer left.
fn remove_abandoned(path: &Path) -> io::Result<()> {
    // Checked before opening, because opening a pipe waits for a writer.
    ensure_regular_file(&fs::symlink_metadata(path)?)?;
    let mut file = ReadFile::open(path)?;
    if !file.try_lock() {
        return Ok(());
    }
    let mut start = Vec::new();
    file.by_ref().take(header::LEN_BYTES + 2).read_to_end(&mut start)?;
    let is_header =
        |(len, json): (&[u8; 8], &[u8])| u64::from_le_bytes(*len) <= header::MAX_LEN_BYTES && json == b"{\"";
    let is_partial = start.is_empty() || start.split_first_chunk().is_some_and(is_header);
    if is_partial { faultable(|| fs::remove_file(path)) } else { Ok(()) }
}

/// Follows links to the file that `path` names: a regular file, or none yet.
pub(crate) fn resolve_target(path: &Path) -> io::Result<PathBuf> {
    let invalid = |why| Err(io::Error::new(ErrorKind::InvalidInput, why));
    match fs::metadata(path) {
        Ok(found) => {
            // A rename would replace a device, or a file without write permission.
            ensure_regular_file(&found)?;
            if found.permissions().readonly() {
                return Err(ErrorKind::PermissionDenied.into());
            }
            fs::canonicalize(path)
        }
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        Err(_) if path.is_symlink() => invalid("a link to a file that does not exist"),
        Err(_) => match path.file_name() {
            None => invalid("the path names no file"),
            Some(name) if !path.as_os_str().as_encoded_bytes().ends_with(name.as_encoded_bytes()) => {
                invalid("the path names a folder")
            }
            Some(name) => Ok(fs::canonicalize(folder(path))?.join(name)),
        },
    }
}
