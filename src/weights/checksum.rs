//! Checksums in the metadata of a file. Other readers of safetensors ignore them.

use super::FileTensor;
use crc32fast::Hasher;
use safetensors::tensor::TensorInfo;
use std::collections::BTreeMap;

/// The metadata key of the CRC-32 of each tensor, in JSON: numbers by name.
const TENSORS: &str = "tensor_checksums";
/// The metadata key of the CRC-32 of everything else in the header, in decimal.
const HEADER: &str = "header_checksum";

pub(super) fn is_key(key: &str) -> bool {
    [TENSORS, HEADER].contains(&key)
}

/// Adds the checksums to the metadata of a file.
pub(super) fn insert(
    metadata: &mut BTreeMap<String, String>,
    tensors: &[&FileTensor],
    infos: &BTreeMap<String, TensorInfo>,
) -> serde_json::Result<()> {
    let checksums: BTreeMap<_, _> = tensors.iter().map(|t| (&t.path, crc32fast::hash(&t.bytes))).collect();
    metadata.insert(TENSORS.into(), serde_json::to_string(&checksums)?);
    metadata.insert(HEADER.into(), header_checksum(metadata, infos).to_string());
    Ok(())
}

/// Removes the checksums from the metadata of a file and compares that of the header. Returns those of the
/// tensors; none if the file is of another system. The error says what is wrong.
pub(super) fn take(
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
