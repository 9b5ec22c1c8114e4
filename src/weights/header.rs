//! The header of a safetensors file: its length in 8 bytes, then JSON. Its metadata have checksums, which other readers
//! of safetensors ignore.

use super::{FileTensor, LoadError};
use crc32fast::Hasher;
use safetensors::tensor::{Dtype, Metadata, TensorInfo};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::{collections::BTreeMap, fmt, io::Read, path::Path};

/// A file begins with the length of its header, a number of 8 bytes.
pub(super) const LEN_BYTES: u64 = 8;
/// The longest header that is read and written. The largest models need less than 2 MB. The format allows 100 MB, which
/// take a reader seconds and 1 GB of memory.
pub(super) const MAX_LEN_BYTES: u64 = 10_000_000;
/// The most dimensions of a tensor.
const MAX_RANK: usize = 64;

pub(super) struct Header {
    /// The tensors, which cover the file without gaps or overlaps.
    pub tensors: Metadata,
    /// The strings of `__metadata__` by key, without the checksums.
    pub metadata: BTreeMap<String, String>,
    /// The checksum of each tensor. A file of another system has none.
    pub checksums: Option<BTreeMap<String, u32>>,
    /// The length of the JSON text.
    pub len_bytes: u64,
}

impl Header {
    /// Reads and checks the header of the file at `path`, which is `file_len_bytes` long.
    pub fn read(path: &Path, mut file: impl Read, file_len_bytes: u64) -> Result<Self, LoadError> {
        let unreadable = |source| LoadError::Read { path: path.into(), source };
        let invalid = |message: String| LoadError::Format { path: path.into(), message };
        let Some(rest_len) = file_len_bytes.checked_sub(LEN_BYTES) else {
            return Err(invalid(format!("it ends after {file_len_bytes} bytes")));
        };
        let mut start = [0; LEN_BYTES as usize];
        file.read_exact(&mut start).map_err(unreadable)?;
        let len_bytes = u64::from_le_bytes(start);
        if len_bytes > rest_len || len_bytes > MAX_LEN_BYTES {
            return Err(invalid(match other_format(&start) {
                Some(format) => format!("it is {format}"),
                None if len_bytes > rest_len && len_bytes > MAX_LEN_BYTES => {
                    "its first 8 bytes are not the length of a header".into()
                }
                None if len_bytes > rest_len => {
                    format!("its header should have {len_bytes} bytes, but {rest_len} are left")
                }
                None => format!("its header has {len_bytes} bytes, but {MAX_LEN_BYTES} are the maximum"),
            }));
        }
        let mut json = vec![0; len_bytes as usize];
        file.read_exact(&mut json).map_err(unreadable)?;
        let entries = serde_json::from_slice(&json).map_err(|error| invalid(error.to_string()));
        let Entries { mut metadata, tensors } = entries?;
        drop(json);
        let checksums = take_checksums(&mut metadata, &tensors).map_err(invalid)?;
        let mut tensors: Vec<_> = tensors.into_iter().collect();
        tensors.sort_by_key(|(_, tensor)| tensor.data_offsets);
        let tensors = Metadata::new(None, tensors).map_err(|error| invalid(error.to_string()))?;
        let (found, expected) = (rest_len - len_bytes, tensors.data_len());
        if usize::try_from(found) != Ok(expected) {
            return Err(invalid(format!("its tensors should have {expected} bytes but have {found}")));
        }
        Ok(Self { tensors, metadata, checksums, len_bytes })
    }
}

/// The format of a file that begins like one of another system.
fn other_format(start: &[u8; LEN_BYTES as usize]) -> Option<&'static str> {
    match start {
        [b'P', b'K', 3, 4, ..] => Some("a zip archive, such as a `.bin` or `.pt` file of PyTorch"),
        [0x80, 2..=5, ..] => Some("a Python pickle, such as a file of PyTorch before version 1.6"),
        [b'G', b'G', b'U', b'F', ..] => Some("a GGUF file"),
        [0x89, b'H', b'D', b'F', ..] => Some("an HDF5 file, such as one of Keras"),
        [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => Some("an array of NumPy"),
        b"version " => Some("a pointer of Git LFS in place of the file, which `git lfs pull` fetches"),
        [b'{', ..] => Some("JSON text. `load_mapped` and `load_pretrained` read the index of a model in several files"),
        _ => None,
    }
}

/// The content of the JSON text, not yet checked for overlapping tensors.
struct Entries {
    metadata: BTreeMap<String, String>,
    tensors: BTreeMap<String, TensorInfo>,
}

/// A tensor in the header. Unknown fields are refused: a reader that skips one has to pass over a value of any depth.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TensorEntry {
    dtype: Dtype,
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ReadEntries)
    }
}

/// Refuses two tensors of one name. The format's library would use the second.
struct ReadEntries;

impl<'de> Visitor<'de> for ReadEntries {
    type Value = Entries;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a map of tensors")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
        let (mut metadata, mut tensors) = (None, BTreeMap::new());
        while let Some(name) = map.next_key::<String>()? {
            let is_new = match name.as_str() {
                "__metadata__" => metadata.replace(map.next_value()?).is_none(),
                _ => {
                    let TensorEntry { dtype, shape, data_offsets } = map.next_value()?;
                    if shape.len() > MAX_RANK {
                        let found = shape.len();
                        let why = format!("`{name}` has {found} dimensions, but {MAX_RANK} are the maximum");
                        return Err(A::Error::custom(why));
                    }
                    let tensor = TensorInfo { dtype, shape, data_offsets };
                    tensors.insert(name.clone(), tensor).is_none()
                }
            };
            if !is_new {
                return Err(A::Error::custom(format!("`{name}` appears twice")));
            }
        }
        let metadata = metadata.flatten().unwrap_or_default();
        Ok(Entries { metadata, tensors })
    }
}

/// The metadata key of the CRC-32 of each tensor, in JSON: numbers by name.
const TENSORS: &str = "tensor_checksums";
/// The metadata key of the CRC-32 of all other entries of the header, in decimal.
const HEADER: &str = "header_checksum";

pub(super) fn is_checksum_key(key: &str) -> bool {
    [TENSORS, HEADER].contains(&key)
}

/// Adds the checksums to the metadata of a file.
pub(super) fn insert_checksums(
    metadata: &mut BTreeMap<String, String>,
    tensors: &[&FileTensor],
    infos: &BTreeMap<String, TensorInfo>,
) -> serde_json::Result<()> {
    let checksums: BTreeMap<_, _> = tensors.iter().map(|t| (&t.path, crc32fast::hash(&t.bytes))).collect();
    metadata.insert(TENSORS.into(), serde_json::to_string(&checksums)?);
    metadata.insert(HEADER.into(), header_checksum(metadata, infos).to_string());
    Ok(())
}

/// Removes the checksums from the metadata of a file, and compares the checksum of the header. Returns the checksums of
/// the tensors; `None` if another system wrote the file. The error says what is wrong.
fn take_checksums(
    metadata: &mut BTreeMap<String, String>,
    infos: &BTreeMap<String, TensorInfo>,
) -> Result<Option<BTreeMap<String, u32>>, String> {
    let Some(expected) = metadata.remove(HEADER) else {
        return match metadata.contains_key(TENSORS) {
            false => Ok(None),
            true => Err(format!("`{HEADER}` is missing")),
        };
    };
    if header_checksum(metadata, infos).to_string() != expected {
        return Err("the checksum of its header differs".into());
    }
    let checksums = metadata.remove(TENSORS).ok_or_else(|| format!("`{TENSORS}` is missing"))?;
    let checksums: BTreeMap<String, u32> = serde_json::from_str(&checksums).map_err(|error| error.to_string())?;
    match checksums.keys().eq(infos.keys()) {
        true => Ok(Some(checksums)),
        false => Err("its checksums are of other tensors".into()),
    }
}

/// The CRC-32 of the metadata, and of name, dtype, shape and place of each tensor.
fn header_checksum(metadata: &BTreeMap<String, String>, infos: &BTreeMap<String, TensorInfo>) -> u32 {
    let mut hasher = Hasher::new();
    let mut add = |text: &str| {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    };
    for (key, value) in metadata {
        add(key);
        add(value);
    }
    for (name, TensorInfo { dtype, shape, data_offsets }) in infos {
        add(name);
        add(&format!("{dtype:?} {shape:?} {data_offsets:?}"));
    }
    hasher.finalize()
}
