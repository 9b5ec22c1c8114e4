//! The files of weights of one model, and the index that names them if they are several.

use super::{LoadError, TensorFile, header};
use crate::files::{is_there, read_bounded};
use safetensors::tensor::TensorInfo;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::path::{Component, Path, PathBuf};
use std::{collections::BTreeMap, fmt, fs, io};

/// The names of a folder's file of weights, and of its index.
pub(super) const SINGLE_FILE: &str = "model.safetensors";
const INDEX: &str = "model.safetensors.index.json";
/// The endings of files of weights in other formats, or under other names.
const OTHER_ENDINGS: [&str; 9] = [".bin", ".pt", ".pth", ".ckpt", ".gguf", ".h5", ".msgpack", ".onnx", ".safetensors"];
/// The most files that an error names.
const MAX_SHOWN_FILES: usize = 3;

/// The safetensors files of one model: a single file, or those that an index names. Each tensor is in one of them.
pub(crate) struct WeightFiles {
    path: PathBuf,
    pub files: Vec<TensorFile>,
}

impl WeightFiles {
    /// Opens a safetensors file, the files of an index, or whichever of the two a folder has.
    pub fn open(path: &Path) -> Result<Self, LoadError> {
        let path = if path.is_dir() { &in_folder(path)? } else { path };
        if path.extension().is_none_or(|ending| ending != "json") {
            return Ok(Self { path: path.into(), files: vec![TensorFile::open(path)?] });
        }
        let index = Index::read(path)?;
        let opened: Result<Vec<_>, _> =
            index.files().into_iter().map(|name| TensorFile::open(&path.with_file_name(name))).collect();
        let files = Self { path: path.into(), files: opened? };
        files.compare(&index)?;
        Ok(files)
    }

    /// Compares the tensors of the files with the index.
    fn compare(&self, index: &Index) -> Result<(), LoadError> {
        let error = |message| LoadError::Index { path: self.path.clone(), message };
        let names = index.files();
        let mut num_tensors = 0;
        for (&name, file) in names.iter().zip(&self.files) {
            for tensor in file.names() {
                match index.files_by_tensor.get(&tensor) {
                    Some(expected) if expected == name => num_tensors += 1,
                    Some(expected) => {
                        return Err(error(format!("it says that `{tensor}` is in {expected}, but {name} has it")));
                    }
                    None => return Err(error(format!("it lacks `{tensor}`, which {name} has"))),
                }
            }
        }
        if num_tensors == index.files_by_tensor.len() {
            return Ok(());
        }
        let missing = index.files_by_tensor.iter().find(|(tensor, _)| self.tensor(tensor).is_none());
        missing.map_or(Ok(()), |(tensor, file)| {
            Err(error(format!("it says that `{tensor}` is in {file}, which does not have it")))
        })
    }

    pub fn tensor(&self, name: &str) -> Option<TensorInfo> {
        self.files.iter().find_map(|file| file.tensor(name))
    }

    pub fn file_of(&mut self, name: &str) -> Option<&mut TensorFile> {
        self.files.iter_mut().find(|file| file.tensor(name).is_some())
    }

    pub fn unread(&self) -> Vec<String> {
        self.files.iter().flat_map(TensorFile::unread).collect()
    }

    /// [`TensorFile::ensure_all_read`] of each file.
    pub fn ensure_all_read(&self, ignored: impl Fn(&str) -> bool) -> Result<(), LoadError> {
        self.files.iter().try_for_each(|file| file.ensure_all_read(&ignored))
    }
}

/// The file of weights or the index in a folder.
fn in_folder(folder: &Path) -> Result<PathBuf, LoadError> {
    if let Some(path) = [SINGLE_FILE, INDEX].map(|name| folder.join(name)).into_iter().find(|path| is_there(path)) {
        return Ok(path);
    }
    let names = || -> io::Result<Vec<String>> {
        fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
    };
    let mut found = names().map_err(|source| LoadError::Read { path: folder.into(), source })?;
    found.retain(|name| OTHER_ENDINGS.iter().any(|ending| name.ends_with(ending)));
    found.sort_unstable();
    found.truncate(MAX_SHOWN_FILES);
    Err(LoadError::NoWeights { path: folder.into(), found })
}

/// The longest index: as long as the longest header.
const MAX_LEN_BYTES: u64 = header::MAX_LEN_BYTES;
/// The most files of a model. The largest published ones have less than 200.
const MAX_FILES: usize = 1_000;

/// The longest name of a file on common file systems.
const MAX_NAME_LEN_BYTES: usize = 255;

/// The name of the file of each tensor.
#[derive(Deserialize)]
#[serde(expecting = "an index")]
struct Index {
    #[serde(rename = "weight_map", deserialize_with = "read_weight_map")]
    files_by_tensor: BTreeMap<String, String>,
}

impl Index {
    pub fn read(path: &Path) -> Result<Self, LoadError> {
        let error = |message: String| LoadError::Index { path: path.into(), message };
        let text = read_bounded(path, MAX_LEN_BYTES).map_err(|source| LoadError::Read { path: path.into(), source })?;
        let index: Self = serde_json::from_slice(&text).map_err(|found| error(found.to_string()))?;
        let files = index.files();
        if files.is_empty() || files.len() > MAX_FILES {
            return Err(error(format!("it names {} files, but 1 to {MAX_FILES} are allowed", files.len())));
        }
        match files.into_iter().find(|name| !is_file_name(name)) {
            Some(name) => Err(error(format!("`{name}` is not the name of a file in the folder of the index"))),
            None => Ok(index),
        }
    }

    /// The names of the files, each once.
    pub fn files(&self) -> Vec<&str> {
        let mut files: Vec<_> = self.files_by_tensor.values().map(String::as_str).collect();
        files.sort_unstable();
        files.dedup();
        files
    }
}

/// Whether a name is that of a file in the folder, on every operating system, and can be shown.
fn is_file_name(name: &str) -> bool {
    let mut components = Path::new(name).components();
    let is_one = matches!((components.next(), components.next()), (Some(Component::Normal(_)), None));
    let is_forbidden = |c: char| c.is_control() || ['/', '\\', ':'].contains(&c);
    is_one && name.len() <= MAX_NAME_LEN_BYTES && !name.contains(is_forbidden)
}

fn read_weight_map<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, String>, D::Error> {
    deserializer.deserialize_map(ReadWeightMap)
}

/// Refuses two files of one tensor.
struct ReadWeightMap;

impl<'de> Visitor<'de> for ReadWeightMap {
    type Value = BTreeMap<String, String>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a map from tensors to files")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut files = BTreeMap::new();
        while let Some((tensor, file)) = map.next_entry::<String, String>()? {
            if files.contains_key(&tensor) {
                return Err(A::Error::custom(format!("`{tensor}` appears twice")));
            }
            files.insert(tensor, file);
        }
        Ok(files)
    }
}
