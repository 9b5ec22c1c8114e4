use super::disk::{self, ReadFile};
use super::header::{self, Header};
use super::{LoadError, TRAINING, decode_elements, first_non_finite, is_readable};
use crate::files::ensure_regular_file;
use crate::ranks::Element;
use crc32fast::Hasher;
use safetensors::{Dtype, tensor::TensorInfo};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Debug};
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// The number of bytes that are read at a time: whole elements, whatever the dtype.
const CHUNK_LEN_BYTES: usize = 1 << 16;

/// A safetensors file. Opening reads and checks the header. A tensor is read after its dimensions have
/// been compared with those of a parameter, never before. So memory is bounded by the model and not by the file.
pub(crate) struct TensorFile {
    pub path: PathBuf,
    file: ReadFile,
    header: Header,
    /// The parts of each tensor that were read, as pairs: part 2 of 3 is `(2, 3)`. The first part is 1.
    parts_read: BTreeMap<String, BTreeSet<(usize, usize)>>,
}

/// The tensor that a parameter of the model requires of the file.
pub(crate) struct ExpectedTensor<'a> {
    pub path: &'a str,
    pub sizes: Vec<usize>,
    /// The dimensions, for error messages.
    pub dims: &'a dyn Debug,
}

/// The names and sizes of dimensions, written as a shape: `(VocabSize=28, EmbedDim=8)`.
pub(crate) struct Dims<'a>(pub &'a [String]);

impl Debug for Dims<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let trailing = if self.0.len() == 1 { "," } else { "" };
        write!(f, "({}{trailing})", self.0.join(", "))
    }
}

impl ExpectedTensor<'_> {
    pub fn missing(&self) -> LoadError {
        LoadError::Missing { tensor: self.path.into(), expected: format!("{:?}", self.dims) }
    }
}

impl TensorFile {
    /// [`open`](Self::open), tried again after a transient error.
    pub fn open_retried(path: &Path) -> Result<Self, LoadError> {
        disk::retried(LoadError::is_transient, || Self::open(path))
    }

    pub fn open(path: &Path) -> Result<Self, LoadError> {
        let unreadable = |source| LoadError::Read { path: path.into(), source };
        // Checked before opening, because opening a pipe waits for a writer.
        disk::faultable(|| fs::metadata(path)).and_then(|found| ensure_regular_file(&found)).map_err(unreadable)?;
        let mut file = ReadFile::open(path).map_err(unreadable)?;
        let len_bytes = file.len_bytes().map_err(unreadable)?;
        let header = Header::read(path, &mut file, len_bytes)?;
        Ok(Self { path: path.into(), file, header, parts_read: BTreeMap::new() })
    }

    /// [`open`](Self::open), but not of a checkpoint.
    pub fn open_weights(path: &Path) -> Result<Self, LoadError> {
        let file = Self::open(path)?;
        // A file of another system may have this key, too.
        let has_model = || file.names().iter().any(|name| name.starts_with("model."));
        match file.metadata().contains_key(TRAINING) && has_model() {
            true => Err(LoadError::Checkpoint { path: path.into() }),
            false => Ok(file),
        }
    }

    /// The strings of the header's `__metadata__`, by key, without the checksums.
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.header.metadata
    }

    /// Whether the bytes of all tensors are compared with checksums.
    pub fn has_checksums(&self) -> bool {
        self.header.checksums.is_some()
    }

    /// The dtype, sizes and position of a tensor, as in the header.
    pub fn tensor(&self, name: &str) -> Option<TensorInfo> {
        self.header.tensors.info(name).cloned()
    }

    /// Reads the elements of a parameter. It is an error if the tensor is missing, has another dtype or
    /// other dimensions, or is not finite.
    pub fn read<E: Element>(&mut self, expected: &ExpectedTensor) -> Result<Vec<E>, LoadError> {
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

    /// Reads all elements of a tensor that the file has, compares its checksum, and notes that `part` was read.
    pub fn elements<E: Element>(&mut self, name: &str, part: (usize, usize)) -> Result<Vec<E>, LoadError> {
        let Some(tensor) = self.tensor(name) else { return Ok(Vec::new()) };
        let mut elements = Vec::with_capacity(tensor.shape.iter().product());
        let found = self.read_bytes(&tensor, |bytes| decode_elements(bytes, tensor.dtype, &mut elements))?;
        let checksum = self.header.checksums.as_ref().and_then(|checksums| checksums.get(name));
        if checksum.is_some_and(|&checksum| found != checksum) {
            return Err(LoadError::Checksum { tensor: name.into() });
        }
        self.set_read(name, part);
        Ok(elements)
    }

    pub fn set_read(&mut self, name: &str, part: (usize, usize)) {
        self.parts_read.entry(name.into()).or_default().insert(part);
    }

    /// The dtype, the sizes and the checksum of a tensor that the file has.
    pub fn checksum(&mut self, name: &str) -> Result<(Dtype, Vec<usize>, u32), LoadError> {
        let tensor = self.tensor(name).ok_or_else(|| LoadError::Unexpected { tensor: name.into() })?;
        let checksum = self.read_bytes(&tensor, |_| {})?;
        Ok((tensor.dtype, tensor.shape, checksum))
    }

    /// Reads the bytes of a tensor in chunks of whole elements, and returns their checksum.
    fn read_bytes(&mut self, tensor: &TensorInfo, mut use_chunk: impl FnMut(&[u8])) -> Result<u32, LoadError> {
        let (begin, end) = tensor.data_offsets;
        let start = header::LEN_BYTES + self.header.len_bytes + begin as u64;
        let mut hasher = Hasher::new();
        let mut read = || {
            self.file.seek(SeekFrom::Start(start))?;
            let mut bytes = vec![0; CHUNK_LEN_BYTES.min(end - begin)];
            for position in (begin..end).step_by(CHUNK_LEN_BYTES) {
                let bytes = &mut bytes[..CHUNK_LEN_BYTES.min(end - position)];
                self.file.read_exact(bytes)?;
                hasher.update(bytes);
                use_chunk(bytes);
            }
            Ok(())
        };
        read().map_err(|source| LoadError::Read { path: self.path.clone(), source })?;
        Ok(hasher.finalize())
    }

    pub fn names(&self) -> Vec<String> {
        self.header.tensors.offset_keys()
    }

    /// The names of the tensors of which nothing was read.
    pub fn unread(&self) -> Vec<String> {
        self.names().into_iter().filter(|name| !self.parts_read.contains_key(name)).collect()
    }

    /// Checks that each tensor was read, as a whole or in all its parts, or is ignored. The error names the first
    /// tensor that is neither, in alphabetical order.
    pub fn ensure_all_read(&self, ignored: impl Fn(&str) -> bool) -> Result<(), LoadError> {
        let mut names = self.names();
        names.sort_unstable();
        for tensor in names {
            let read = self.parts_read.get(&tensor);
            if read.is_none() && !ignored(&tensor) {
                return Err(LoadError::Unexpected { tensor });
            }
            if let Some((part, parts)) = read.and_then(first_unread) {
                return Err(LoadError::Unexpected { tensor: format!("{tensor} part {part} of {parts}") });
            }
        }
        Ok(())
    }
}

/// The first part of a tensor that was not read, as a pair like those in `read`. `None` if, for some number of parts,
/// every part was read.
fn first_unread(read: &BTreeSet<(usize, usize)>) -> Option<(usize, usize)> {
    let unread = |parts| (1..=parts).find(|&part| !read.contains(&(part, parts)));
    if read.iter().any(|&(_, parts)| unread(parts).is_none()) {
        return None;
    }
    read.iter().find_map(|&(_, parts)| Some((unread(parts)?, parts)))
}

pub(crate) fn ensure_dtype<E: Element>(expected: &ExpectedTensor, tensor: &TensorInfo) -> Result<(), LoadError> {
    if is_readable::<E>(tensor.dtype) {
        return Ok(());
    }
    Err(LoadError::Dtype { tensor: expected.path.into(), expected: E::DTYPE, found: tensor.dtype })
}

pub(crate) fn ensure_finite<E: Element>(expected: &ExpectedTensor, elements: &[E]) -> Result<(), LoadError> {
    match first_non_finite(elements) {
        None => Ok(()),
        Some((index, value)) => Err(LoadError::NotFinite { tensor: expected.path.into(), index, value }),
    }
}
