//! Temporary folders and safetensors files, for every test binary.

#![allow(dead_code, reason = "each binary uses a part of it")]

use safetensors::{Dtype, SafeTensors};
use std::{collections::BTreeMap, fs, path::Path, process::Command, time::Duration};
use tempfile::TempDir;

/// Dtype, sizes and bytes of each tensor by path.
pub type Tensors = BTreeMap<String, (Dtype, Vec<usize>, Vec<u8>)>;
/// Texts by key.
pub type Metadata = BTreeMap<String, String>;

/// A short text for `train_shakespeare`, whose own takes long to estimate the loss on.
pub const PLAYS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/plays.txt");

/// The page with the figures of the tests that `.ci/scheduled` runs.
pub const RELIABILITY: &str = include_str!("../../docs/reliability.md");

/// Prints what a long test has found, and asserts that the page says the same.
#[track_caller]
pub fn print_figure(figure: &str) {
    println!("{figure}");
    assert!(RELIABILITY.lines().any(|line| line == figure), "docs/reliability.md has another figure");
}

/// More time than a reader of bounded files takes, even without optimisation on a busy machine.
pub const MAX_TIME: Duration = Duration::from_secs(100);

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

/// Sends a signal to a process, by the shell: not every machine has the program `kill`. Returns whether the process was
/// there.
pub fn signal(name: &str, process: u32) -> bool {
    Command::new("sh").arg("-c").arg(format!("kill -{name} {process}")).status().unwrap().success()
}

/// The tensors and the metadata of a file, read by the `safetensors` crate; without checksums.
pub fn tensors_of(file: &[u8]) -> (Tensors, Metadata) {
    let (_, header) = SafeTensors::read_metadata(file).unwrap();
    let metadata = header.metadata().clone().unwrap_or_default();
    let metadata = metadata.into_iter().filter(|(key, _)| !key.ends_with("_checksum") && !key.ends_with("_checksums"));
    let file = SafeTensors::deserialize(file).unwrap();
    let tensors = file.iter().map(|(key, view)| {
        let content = (view.dtype(), view.shape().to_vec(), view.data().to_vec());
        (key.to_string(), content)
    });
    (tensors.collect(), metadata.collect())
}

/// A file of these tensors with checksums, written without the code under test.
pub fn sealed_file(tensors: &Tensors, metadata: &Metadata) -> Vec<u8> {
    let mut metadata = metadata.clone();
    let checksums: BTreeMap<_, _> =
        tensors.iter().map(|(path, (_, _, bytes))| (path, crc32fast::hash(bytes))).collect();
    metadata.insert("tensor_checksums".into(), serde_json::to_string(&checksums).unwrap());
    let mut covered = Vec::new();
    let mut cover = |text: &str| {
        covered.extend((text.len() as u64).to_le_bytes());
        covered.extend(text.bytes());
    };
    metadata.iter().for_each(|(key, value)| [key, value].into_iter().for_each(|text| cover(text)));
    let mut entries = serde_json::Map::new();
    let mut end = 0;
    for (path, (dtype, sizes, bytes)) in tensors {
        let begin = end;
        end += bytes.len();
        cover(path);
        cover(&format!("{dtype:?} {sizes:?} {:?}", (begin, end)));
        let info = serde_json::json!({ "dtype": dtype, "shape": sizes, "data_offsets": [begin, end] });
        entries.insert(path.clone(), info);
    }
    metadata.insert("header_checksum".into(), crc32fast::hash(&covered).to_string());
    entries.insert("__metadata__".into(), serde_json::to_value(metadata).unwrap());
    let header = serde_json::to_vec(&entries).unwrap();
    let data: Vec<u8> = tensors.values().flat_map(|(_, _, bytes)| bytes.clone()).collect();
    [&(header.len() as u64).to_le_bytes()[..], &header, &data].concat()
}
