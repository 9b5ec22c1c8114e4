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

/// Bytes of the number that a file begins with, the size of its header.
const SIZE: u64 = 8;
/// The largest header that other readers of the format take.
const MAX_HEADER: u64 = 100_000_000;

/// A safetensors file. Its header is read and checked when it is opened; a tensor is read when a
/// parameter of its dimensions asks for it, so that nothing is as large as a file says, but only as
/// large as the model.
pub(crate) struct TensorFile {
    path: PathBuf,
    file: File,
    header: Metadata,
    texts: HashMap<String, String>,
    /// Where the tensors begin.
    start: u64,
    /// Of each tensor that was read, how many parts it has for its reader, and which of them was read.
    read: BTreeMap<String, BTreeSet<(usize, usize)>>,
}

/// What a parameter asks for.
pub(crate) struct ExpectedTensor<'a> {
    pub path: &'a str,
    pub sizes: Vec<usize>,
    /// The dimensions, to be written.
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
        // Before it is opened: to open a pipe is to wait for somebody who writes to it.
        fs::metadata(path).and_then(|found| ensure_regular_file(&found)).map_err(unreadable)?;
        let mut file = File::open(path).map_err(unreadable)?;
        let length = file.metadata().map_err(unreadable)?.len();

        let Some(rest) = length.checked_sub(SIZE) else {
            return Err(damaged(format!("it ends after {length} bytes")));
        };
        let mut size = [0; SIZE as usize];
        file.read_exact(&mut size).map_err(unreadable)?;
        let size = u64::from_le_bytes(size);
        if size > rest.min(MAX_HEADER) {
            let why = format!("its header should have {size} bytes, and {rest} are left");
            return Err(damaged(why));
        }
        let mut header = vec![0; size as usize];
        file.read_exact(&mut header).map_err(unreadable)?;
        let Header { texts, tensors } =
            serde_json::from_slice(&header).map_err(|error| damaged(error.to_string()))?;
        let mut tensors: Vec<_> = tensors.into_iter().collect();
        tensors.sort_by_key(|(_, tensor)| tensor.data_offsets);
        let header = Metadata::new(None, tensors).map_err(|error| damaged(error.to_string()))?;
        let (found, expected) = (rest - size, header.data_len());
        if usize::try_from(found) != Ok(expected) {
            return Err(damaged(format!("its tensors should have {expected} bytes but have {found}")));
        }
        Ok(Self { path: path.into(), file, header, texts, start: SIZE + size, read: BTreeMap::new() })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The texts beside the tensors, by their names.
    pub fn texts(&self) -> &HashMap<String, String> {
        &self.texts
    }

    /// What the header says of a tensor.
    pub fn tensor(&self, name: &str) -> Option<TensorInfo> {
        self.header.info(name).cloned()
    }

    /// The elements of a parameter, if they are there, of its dimensions and finite.
    pub fn read<E: SafetensorsDtype>(&mut self, wanted: &ExpectedTensor) -> Result<Vec<E>, LoadError> {
        let tensor = self.tensor(wanted.path).ok_or_else(|| wanted.missing())?;
        ensure_dtype::<E>(wanted, &tensor)?;
        if tensor.shape != wanted.sizes {
            return Err(LoadError::Shape {
                tensor: wanted.path.into(),
                expected: format!("{:?}", wanted.dims),
                found: tensor.shape,
            });
        }
        let elements = self.elements(wanted.path, (1, 1))?;
        ensure_finite(wanted, &elements)?;
        Ok(elements)
    }

    /// All elements of a tensor that is there, of which a part, one of so many, is to be used.
    pub fn elements<E: SafetensorsDtype>(
        &mut self,
        name: &str,
        (part, parts): (usize, usize),
    ) -> Result<Vec<E>, LoadError> {
        let (begin, end) = self.header.info(name).map_or((0, 0), |i| i.data_offsets);
        let mut bytes = vec![0; end - begin];
        let read = self
            .file
            .seek(SeekFrom::Start(self.start + begin as u64))
            .and_then(|_| self.file.read_exact(&mut bytes));
        read.map_err(|source| LoadError::Read { path: self.path.clone(), source })?;
        let read = self.read.entry(name.into()).or_default();
        read.insert((parts, part));
        Ok(decode_elements(&bytes))
    }

    /// The first tensor, by its name, that was not read, as a whole or in all its parts, is an error
    /// unless it is ignored.
    pub fn ensure_all_read(&self, ignored: impl Fn(&str) -> bool) -> Result<(), LoadError> {
        let mut names = self.header.offset_keys();
        names.sort_unstable();
        for tensor in names {
            let Some(read) = self.read.get(&tensor) else {
                if ignored(&tensor) {
                    continue;
                }
                return Err(LoadError::Unexpected { tensor });
            };
            let unread = |parts| (1..=parts).find(|&part| !read.contains(&(parts, part)));
            let ways = read.iter().map(|&(parts, _)| (unread(parts), parts));
            // `None` comes first.
            if let Some((Some(part), parts)) = ways.min() {
                let tensor = format!("{tensor} part {part} of {parts}");
                return Err(LoadError::Unexpected { tensor });
            }
        }
        Ok(())
    }
}

/// A file that has an end.
pub(crate) fn ensure_regular_file(found: &fs::Metadata) -> io::Result<()> {
    if found.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !found.is_file() {
        let why = "it is no ordinary file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    Ok(())
}

pub(crate) fn ensure_dtype<E: SafetensorsDtype>(
    wanted: &ExpectedTensor,
    tensor: &TensorInfo,
) -> Result<(), LoadError> {
    if tensor.dtype == E::DTYPE {
        return Ok(());
    }
    Err(LoadError::Dtype { tensor: wanted.path.into(), expected: E::DTYPE, found: tensor.dtype })
}

pub(crate) fn ensure_finite<E: SafetensorsDtype>(
    wanted: &ExpectedTensor,
    elements: &[E],
) -> Result<(), LoadError> {
    match first_non_finite(elements) {
        None => Ok(()),
        Some((index, value)) => Err(LoadError::NotFinite { tensor: wanted.path.into(), index, value }),
    }
}

/// A header as it is written.
struct Header {
    texts: HashMap<String, String>,
    tensors: BTreeMap<String, TensorInfo>,
}

/// Refuses what other readers would have to skip, however deep it nests: a field that the format does
/// not have.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    dtype: Dtype,
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

impl<'de> Deserialize<'de> for Header {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ReadHeader)
    }
}

/// Refuses what the format's library lets pass: of two tensors of one name it takes the second.
struct ReadHeader;

impl<'de> Visitor<'de> for ReadHeader {
    type Value = Header;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a map of tensors")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Header, A::Error> {
        let (mut texts, mut tensors) = (None, BTreeMap::new());
        while let Some(name) = map.next_key::<String>()? {
            let is_new = match name.as_str() {
                "__metadata__" => texts.replace(map.next_value()?).is_none(),
                _ => {
                    let Fields { dtype, shape, data_offsets } = map.next_value()?;
                    let tensor = TensorInfo { dtype, shape, data_offsets };
                    tensors.insert(name.clone(), tensor).is_none()
                }
            };
            if !is_new {
                return Err(A::Error::custom(format!("`{name}` is there twice")));
            }
        }
        let texts = texts.flatten().unwrap_or_default();
        Ok(Header { texts, tensors })
    }
}
