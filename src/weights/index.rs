//! The index of a model in several files, as HuggingFace's `transformers` writes it.

use super::{LoadError, header};
use crate::files::read_bounded;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::path::{Component, Path};
use std::{collections::BTreeMap, fmt};

/// The longest index: as long as the longest header.
const MAX_LEN_BYTES: u64 = header::MAX_LEN_BYTES;
/// The most files of a model. The largest published ones have less than 200.
const MAX_FILES: usize = 1_000;

/// The longest name of a file on common file systems.
const MAX_NAME_LEN_BYTES: usize = 255;

/// The name of the file of each tensor.
pub(super) struct Index {
    pub files_by_tensor: BTreeMap<String, String>,
}

impl Index {
    pub fn read(path: &Path) -> Result<Self, LoadError> {
        let error = |message: String| LoadError::Index { path: path.into(), message };
        let text = read_bounded(path, MAX_LEN_BYTES).map_err(|source| LoadError::Read { path: path.into(), source })?;
        let Json { weight_map } = serde_json::from_slice(&text).map_err(|found| error(found.to_string()))?;
        let index = Self { files_by_tensor: weight_map };
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

#[derive(Deserialize)]
struct Json {
    #[serde(deserialize_with = "read_weight_map")]
    weight_map: BTreeMap<String, String>,
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
