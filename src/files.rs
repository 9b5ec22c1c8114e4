use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// Reads a file of at most this length.
pub(crate) fn read_bounded(path: &Path, max_len_bytes: u64) -> io::Result<Vec<u8>> {
    // Checked before opening, because opening a pipe waits for a writer.
    ensure_regular_file(&fs::metadata(path)?)?;
    let mut bytes = Vec::new();
    File::open(path)?.take(max_len_bytes + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_len_bytes {
        let message = format!("it has more than {max_len_bytes} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    Ok(bytes)
}

/// Whether something is at a path. A broken link counts, so that reading the path is an error.
pub(crate) fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Refuses folders, pipes and devices, which may have no end.
pub(crate) fn ensure_regular_file(found: &fs::Metadata) -> io::Result<()> {
    if found.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !found.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    Ok(())
}
