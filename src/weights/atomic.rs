//! Replaces files atomically: first a partial file beside the target is written, then it is renamed.

use super::{SaveError, ensure_regular_file};
use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

/// Checks that [`save`](super::save) can write `path`, without changing a file that is there. It lets a
/// long training fail at its beginning instead of its end.
///
/// # Errors
/// [`SaveError::Write`] if the file cannot be written.
///
/// ```
/// use typed_transformer::weights::ensure_writable;
/// assert!(ensure_writable(std::env::temp_dir().join("weights.safetensors")).is_ok());
/// assert!(ensure_writable("/no/such/folder/weights.safetensors").is_err());
/// ```
pub fn ensure_writable(path: impl AsRef<Path>) -> Result<(), SaveError> {
    let path = path.as_ref();
    let probe = || {
        let (_, partial, _) = create_partial(path)?;
        fs::remove_file(partial)
    };
    probe().map_err(|source| SaveError::Write { path: path.to_path_buf(), source })
}

/// Writes a file so that a reader finds the old one or the new one at any moment, also after a crash or with
/// a full disk. The new file has the permissions of the old one.
pub(super) fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let (target, partial, mut file) = create_partial(path)?;
    let mut write = || {
        // Set before the content is written, so that nobody can read it who could not read the old file.
        if let Ok(old) = fs::metadata(&target) {
            file.set_permissions(old.permissions())?;
        }
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&partial, &target)?;
        sync_folder(&target);
        Ok(())
    };
    write().inspect_err(|_| {
        // The caller needs the first error, not this one.
        let _ = fs::remove_file(&partial);
    })
}

/// Syncs the folder of a file, so that a rename survives a power cut. Errors are ignored: some systems cannot
/// sync folders, and the file is complete under its old or its new name anyway.
fn sync_folder(file: &Path) {
    if let Ok(folder) = File::open(folder(file)) {
        let _ = folder.sync_all();
    }
}

/// The folder that a file is in.
fn folder(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// Removes the partial files that killed writers of `path` left beside it.
///
/// No other process may be writing to `path`.
pub(crate) fn clear_partial(path: &Path) -> io::Result<()> {
    let target = resolve_target(path)?;
    let name = target.file_name().unwrap_or_default();
    for entry in fs::read_dir(folder(&target))? {
        let entry = entry?.file_name();
        let number = entry
            .as_encoded_bytes()
            .strip_prefix(name.as_encoded_bytes())
            .and_then(|rest| rest.strip_prefix(b"."))
            .and_then(|rest| rest.strip_suffix(b".partial"));
        let is_number = |n: &[u8]| !n.is_empty() && n.iter().all(u8::is_ascii_digit);
        if number.is_some_and(is_number) {
            fs::remove_file(target.with_file_name(entry))?;
        }
    }
    Ok(())
}

/// Creates a partial file beside the target of `path`, under a name that no other writer uses. Returns the
/// target, the path of the partial file, and the file.
fn create_partial(path: &Path) -> io::Result<(PathBuf, PathBuf, File)> {
    let target = resolve_target(path)?;
    let name = target.file_name().unwrap_or_default();
    let mut number = 0;
    loop {
        let mut partial = name.to_os_string();
        partial.push(format!(".{number}.partial"));
        let partial = target.with_file_name(partial);
        match File::create_new(&partial) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            result => return Ok((target, partial, result?)),
        }
    }
}

/// Follows links to the file that `path` names: a regular file, or none yet.
fn resolve_target(path: &Path) -> io::Result<PathBuf> {
    let invalid = |why| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    match fs::metadata(path) {
        Ok(found) => {
            // A rename would replace a device, or a file without write permission.
            ensure_regular_file(&found)?;
            if found.permissions().readonly() {
                return Err(io::ErrorKind::PermissionDenied.into());
            }
            fs::canonicalize(path)
        }
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Err(_) => match path.file_name() {
            None => invalid("the path names no file"),
            Some(name) if !path.as_os_str().as_encoded_bytes().ends_with(name.as_encoded_bytes()) => {
                invalid("the path names a folder")
            }
            Some(_) => Ok(path.to_path_buf()),
        },
    }
}
