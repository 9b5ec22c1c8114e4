//! The models of `src/models` are written with what a user of the library has: their files compile as a crate of their
//! own.

use crate::{program::root, rustc::check_files};
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn the_models_compile_outside_the_library() {
    // What rustc warns of is that of the library itself, which CI checks.
    let mut files = vec![(PathBuf::from("lib.rs"), "#![allow(warnings)]\npub mod models;\n".to_string())];
    read(&root().join("src"), Path::new("models"), &mut files);
    assert!(files.len() > 20, "{} files", files.len());
    let output = check_files(&files);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Adds the files of a folder below `root`, with the paths that they have outside the library.
fn read(root: &Path, folder: &Path, files: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(root.join(folder)).unwrap() {
        let path = folder.join(entry.unwrap().file_name());
        if root.join(&path).is_dir() {
            read(root, &path, files);
        } else {
            files.push((path.clone(), outside(&fs::read_to_string(root.join(path)).unwrap())));
        }
    }
}

/// The text of a file with the name of the library for `crate`, except in paths to the models themselves.
fn outside(text: &str) -> String {
    text.replace("crate::", "typed_transformer::").replace("typed_transformer::models::", "crate::models::")
}
