use super::{LoadError, SafetensorsDtype, decode_elements, first_non_finite};
use dfdx::shapes::Shape;
use safetensors::tensor::{Dtype, Metadata, TensorInfo};
use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, Visitor},
};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt::{self, Debug},
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

/// The length of the number at the beginning of a file, which is the length of its header.
const HEADER_LEN_BYTES: u64 = 8;
/// The longest header, in bytes, that the format's own library reads.
const MAX_HEADER_LEN: u64 = 100_000_000;

/// A safetensors file. Opening reads and checks the header. A tensor is read only once its dimensions were
/// compared with those of a parameter, so memory is bounded by the model and not by the file.
pub(crate) struct TensorFile {
    path: PathBuf,
    file: File,
    header: Metadata,
    metadata: HashMap<String, String>,
    /// The offset of the first tensor, in bytes.
    data_start: u64,
    /// The parts of each tensor that were read, as (number of parts, part). A part counts from 1.
    parts_read: BTreeMap<String, BTreeSet<(usize, usize)>>,
}

/// What a parameter of the model requires of its tensor in the file.
pub(crate) struct ExpectedTensor<'a> {
    pub path: &'a str,
    pub sizes: Vec<usize>,
    /// The dimensions, for error messages.
    pub dims: &'a dyn Debug,
}

impl<'a> ExpectedTensor<'a> {
    pub fn new<S: Shape>(path: &'a str, shape: &'a S) -> Self {
        Self { path, sizes: shape.concrete().into(), dims: shape }
    }

    pub fn missing(&self) -> LoadError {
        LoadError::Missing { tensor: self.path.into(), expected: format!("{:?}", self.dims) }
    }
}

impl TensorFile {
    pub fn open(path: &Path) -> Result<Self, LoadError> {
        let unreadable = |source| LoadError::Read { path: path.into(), source };
        let damaged = |message| LoadError::Format { path: path.into(), message };
        // Checked before opening, because opening a pipe waits for a writer.
        fs::metadata(path).and_then(|found| ensure_regular_file(&found)).map_err(unreadable)?;
        let mut file = File::open(path).map_err(unreadable)?;
        let length = file.metadata().map_err(unreadable)?.len();

        let Some(rest_len) = length.checked_sub(HEADER_LEN_BYTES) else {
            return Err(damaged(format!("it ends after {length} bytes")));
        };
        let mut header_len = [0; HEADER_LEN_BYTES as usize];
        file.read_exact(&mut header_len).map_err(unreadable)?;
        let header_len = u64::from_le_bytes(header_len);
        if header_len > rest_len {
            let why = format!("its header should have {header_len} bytes, but {rest_len} are left");
            return Err(damaged(why));
        }
        if header_len > MAX_HEADER_LEN {
            let why = format!("its header has {header_len} bytes, but {MAX_HEADER_LEN} are the maximum");
            return Err(damaged(why));
        }
        let mut header = vec![0; header_len as usize];
        file.read_exact(&mut header).map_err(unreadable)?;
        let Header { metadata, tensors } =
            serde_json::from_slice(&header).map_err(|error| damaged(error.to_string()))?;
        let mut tensors: Vec<_> = tensors.into_iter().collect();
        tensors.sort_by_key(|(_, tensor)| tensor.data_offsets);
        let header = Metadata::new(None, tensors).map_err(|error| damaged(error.to_string()))?;
        let (found, expected) = (rest_len - header_len, header.data_len());
        if usize::try_from(found) != Ok(expected) {
            return Err(damaged(format!("its tensors should have {expected} bytes but have {found}")));
        }
        Ok(Self {
            path: path.into(),
            file,
            header,
            metadata,
            data_start: HEADER_LEN_BYTES + header_len,
            parts_read: BTreeMap::new(),
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The strings of the header's `__metadata__`, by key.
    pub fn metadata(&self) -> &HashMap<String, String> {
        &self.metadata
    }

    /// The dtype, sizes and position of a tensor, as in the header.
    pub fn tensor(&self, name: &str) -> Option<TensorInfo> {
        self.header.info(name).cloned()
    }

    /// Reads the elements of a parameter. It is an error if the tensor is missing, has another dtype or
    /// other dimensions, or is not finite.
    pub fn read<E: SafetensorsDtype>(&mut self, expected: &ExpectedTensor) -> Result<Vec<E>, LoadError> {
        let tensor = self.tensor(expected.path).ok_or_else(|| expected.missing())?;
        ensure_dtype::<E>(expected, &tensor)?;
        if tensor.shape != expected.sizes {
            return Err(LoadError::Shape {
                tensor: expected.path.into(),
                expected: format!("{:?}", expected.dims),
                found: tensor.shape,
            });
        }
        let elements = self.elements(expected.path, (1, 1))?;
        ensure_finite(expected, &elements)?;
        Ok(elements)
    }

    /// Reads all elements of a tensor that the file has, and records that part `part` of `parts` is used.
    pub fn elements<E: SafetensorsDtype>(
        &mut self,
        name: &str,
        (part, parts): (usize, usize),
    ) -> Result<Vec<E>, LoadError> {
        let (begin, end) = self.header.info(name).map_or((0, 0), |i| i.data_offsets);
        let mut bytes = vec![0; end - begin];
        let read = self
            .file
            .seek(SeekFrom::Start(self.data_start + begin as u64))
            .and_then(|_| self.file.read_exact(&mut bytes));
        read.map_err(|source| LoadError::Read { path: self.path.clone(), source })?;
        self.parts_read.entry(name.into()).or_default().insert((parts, part));
        Ok(decode_elements(&bytes))
    }

    /// Checks that each tensor was read, as a whole or in all its parts, or is ignored. The error names
    /// the first by name.
    pub fn ensure_all_read(&self, ignored: impl Fn(&str) -> bool) -> Result<(), LoadError> {
        let mut names = self.header.offset_keys();
        names.sort_unstable();
        for tensor in names {
            let Some(read) = self.parts_read.get(&tensor) else {
                if ignored(&tensor) {
                    continue;
                }
                return Err(LoadError::Unexpected { tensor });
            };
            let unread = |parts| (1..=parts).find(|&part| !read.contains(&(parts, part)));
            let divisions = read.iter().map(|&(parts, _)| (unread(parts), parts));
            // The minimum is `None` if any division into parts was read completely.
            if let Some((Some(part), parts)) = divisions.min() {
                let tensor = format!("{tensor} part {part} of {parts}");
                return Err(LoadError::Unexpected { tensor });
            }
        }
        Ok(())
    }
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

pub(crate) fn ensure_dtype<E: SafetensorsDtype>(
    expected: &ExpectedTensor,
    tensor: &TensorInfo,
) -> Result<(), LoadError> {
    if tensor.dtype == E::DTYPE {
        return Ok(());
    }
    Err(LoadError::Dtype { tensor: expected.path.into(), expected: E::DTYPE, found: tensor.dtype })
}

pub(crate) fn ensure_finite<E: SafetensorsDtype>(expected: &ExpectedTensor, elements: &[E]) -> Result<(), LoadError> {
    match first_non_finite(elements) {
        None => Ok(()),
        Some((index, value)) => Err(LoadError::NotFinite { tensor: expected.path.into(), index, value }),
    }
}

/// The header of a file, not yet checked for overlapping tensors.
struct Header {
    metadata: HashMap<String, String>,
    tensors: BTreeMap<String, TensorInfo>,
}

/// A tensor in the header. Unknown fields are refused: other readers would have to skip values of any depth.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TensorEntry {
    dtype: Dtype,
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

impl<'de> Deserialize<'de> for Header {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ReadHeader)
    }
}

/// Refuses two tensors of one name. The format's library would use the second.
struct ReadHeader;

impl<'de> Visitor<'de> for ReadHeader {
    type Value = Header;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a map of tensors")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Header, A::Error> {
        let (mut metadata, mut tensors) = (None, BTreeMap::new());
        while let Some(name) = map.next_key::<String>()? {
            let is_new = match name.as_str() {
                "__metadata__" => metadata.replace(map.next_value()?).is_none(),
                _ => {
                    let TensorEntry { dtype, shape, data_offsets } = map.next_value()?;
                    let tensor = TensorInfo { dtype, shape, data_offsets };
                    tensors.insert(name.clone(), tensor).is_none()
                }
            };
            if !is_new {
                return Err(A::Error::custom(format!("`{name}` appears twice")));
            }
        }
        let metadata = metadata.flatten().unwrap_or_default();
        Ok(Header { metadata, tensors })
    }
}
