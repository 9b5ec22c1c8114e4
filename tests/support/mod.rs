//! Temporary folders, for every test binary.

use std::{fs, path::Path};
use tempfile::TempDir;

/// An empty folder in cargo's folder for test files. Dropping it removes it with its content.
pub fn temp_dir() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// The names of the files in a folder, sorted.
pub fn file_names(folder: &TempDir) -> Vec<String> {
    let path: &Path = folder.path();
    let entries = fs::read_dir(path).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
