//! The profile in which cargo has built this test.

use std::env;
use std::path::{Path, PathBuf};

/// The folder of the profile, and its name.
pub fn folder_and_name() -> (PathBuf, String) {
    let this_test = env::current_exe().unwrap();
    let folder = this_test.parent().and_then(Path::parent).unwrap().to_path_buf();
    let name = match folder.file_name().and_then(|name| name.to_str()).unwrap() {
        "debug" => "test",
        name => name,
    };
    let name = name.to_string();
    (folder, name)
}
