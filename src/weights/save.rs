use super::atomic::StagedFile;
use super::outputs::{ensure_no_other_kind, in_private_folder};
use super::{CONVENTIONS, SaveError, TRAINING, conventions_entry, decode_elements, first_non_finite, header};
use crate::dims::without_paths;
use crate::ranks::{Element, is_sharded};
use crate::{model_tensors::visit_tensors, nn::Module, nn::OwnsParameters};
use dfdx::{nn::TensorCollection, tensor_ops::Device};
use safetensors::{Dtype, tensor::TensorInfo};
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::{cmp::Reverse, convert::Infallible};

/// Saves a model as safetensors: each parameter under its field path, and in the metadata the model's
/// [conventions](crate::nn::Conventions::conventions) and a checksum of every tensor and of the header.
/// Equal models give equal files.
///
/// A file of weights is replaced atomically: the new one is written beside `path` and then renamed.
///
/// # Errors
/// [`SaveError::Write`] if the file cannot be written; [`SaveError::Exists`] if there is a file other than weights;
/// [`SaveError::NotFinite`] if an element is NaN or infinite, as after a training that diverged; [`SaveError::Format`]
/// if the names and sizes of the tensors take more than 10 MB, because the file could not be loaded, and if a parameter
/// is divided among ranks: [`Distributed::save`](crate::tensor_parallel::Distributed::save) joins the parts.
///
/// ```
/// use typed_transformer::{doctest::*, nn::Linear, prelude::*, weights};
/// let device = Cpu::default();
/// let linear = Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&device);
/// let path = std::env::temp_dir().join(format!("save-{}.safetensors", std::process::id()));
/// weights::save(&linear, &path)?;
/// let loaded: Linear<EmbedDim, VocabSize, f32, Cpu> = weights::load(&path, &device)?;
/// assert_eq!(loaded.weight.as_vec(), linear.weight.as_vec());
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn save<Model: OwnsParameters<E, D>, E: Element, D: Device<E>>(
    model: &Model,
    path: impl AsRef<Path>,
) -> Result<(), SaveError> {
    save_with_metadata(model, path, HashMap::new(), false)
}

/// [`save`] with further metadata, strings by key: what a model needs besides its weights, such as its
/// vocabulary. [`metadata`](super::metadata) reads them. With `overwrite`, a file of another kind is replaced too.
///
/// # Errors
/// Those of [`save`]; the metadata count towards the 10 MB. [`SaveError::Format`] also if a key is one of this crate:
/// `conventions`, `training`, `tensor_checksums` or `header_checksum`.
///
/// ```
/// use std::collections::HashMap;
/// use typed_transformer::{doctest::*, nn::Linear, prelude::*, weights};
/// let linear = Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&Cpu::default());
/// let path = std::env::temp_dir().join(format!("metadata-{}.safetensors", std::process::id()));
/// let metadata = HashMap::from([("alphabet".to_string(), "abc".to_string())]);
/// weights::save_with_metadata(&linear, &path, metadata.clone(), false)?;
/// assert_eq!(weights::metadata(&path)?, metadata);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn save_with_metadata<Model: OwnsParameters<E, D>, E: Element, D: Device<E>>(
    model: &Model,
    path: impl AsRef<Path>,
    metadata: HashMap<String, String>,
    overwrite: bool,
) -> Result<(), SaveError> {
    let path = path.as_ref();
    ensure_whole(model, path)?;
    let tensors = collect(model, "");
    ensure_all_finite::<E>(&tensors, path)?;
    save_tensors::<Model>(&tensors, path, metadata, overwrite)
}

/// [`save_with_metadata`] in a new folder of temporary files that only its user can read, for weights that the disk of
/// `refused` does not take. The file has the name of `refused`; its path is returned.
///
/// # Errors
/// Those of [`save`].
///
/// ```
/// use std::collections::HashMap;
/// use typed_transformer::{doctest::*, nn::Linear, prelude::*, weights};
/// let linear = Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&Cpu::default());
/// let saved_at = weights::save_elsewhere(&linear, "/no/such/folder/weights", HashMap::new())?;
/// assert!(saved_at.ends_with("weights") && saved_at.exists());
/// # std::fs::remove_dir_all(saved_at.parent().unwrap()).unwrap();
/// # Ok::<(), weights::SaveError>(())
/// ```
pub fn save_elsewhere<Model: OwnsParameters<E, D>, E: Element, D: Device<E>>(
    model: &Model,
    refused: impl AsRef<Path>,
    metadata: HashMap<String, String>,
) -> Result<PathBuf, SaveError> {
    in_private_folder(refused.as_ref(), |path| save_with_metadata(model, path, metadata, false))
}

/// Checks that a file of these tensors can be loaded again.
pub(crate) fn ensure_all_finite<E: Element>(tensors: &[FileTensor], path: &Path) -> Result<(), SaveError> {
    tensors.iter().try_for_each(|tensor| ensure_finite_in(path, &tensor.path, &tensor.elements::<E>()))
}

/// Checks that a file at `path` with these elements of `tensor` can be loaded again.
pub(super) fn ensure_finite_in<E: Element>(path: &Path, tensor: &str, elements: &[E]) -> Result<(), SaveError> {
    let Some((index, value)) = first_non_finite(elements) else { return Ok(()) };
    Err(SaveError::NotFinite { path: path.into(), tensor: tensor.into(), index, value })
}

/// Saves the parameters of a `Model`; with `overwrite`, in place of whatever was there.
pub(crate) fn save_tensors<Model: Module>(
    tensors: &[FileTensor],
    path: &Path,
    metadata: HashMap<String, String>,
    overwrite: bool,
) -> Result<(), SaveError> {
    if !overwrite {
        ensure_no_other_kind(path)?;
    }
    let is_reserved = |key: &&String| [CONVENTIONS, TRAINING].contains(&key.as_str()) || header::is_checksum_key(key);
    if let Some(key) = metadata.keys().find(is_reserved) {
        let message = format!("the metadata key `{key}` is reserved for this crate");
        return Err(SaveError::Format { path: path.into(), message });
    }
    let file = write(path, tensors, metadata.into_iter().chain(conventions_entry::<Model>()).collect())?;
    file.commit().map_err(|source| SaveError::Write { path: path.into(), source })
}

/// A tensor in the form of the file: little-endian bytes in row-major order.
pub(crate) struct FileTensor {
    pub path: String,
    pub sizes: Vec<usize>,
    pub dtype: Dtype,
    pub bytes: Vec<u8>,
}

impl FileTensor {
    pub fn new<E: Element>(path: String, sizes: Vec<usize>, elements: &[E]) -> Self {
        Self { path, sizes, dtype: E::DTYPE, bytes: E::to_bytes(elements) }
    }

    pub fn elements<E: Element>(&self) -> Vec<E> {
        let mut elements = Vec::new();
        decode_elements(&self.bytes, self.dtype, &mut elements);
        elements
    }
}

/// Refuses a rank's part of a model: each rank would replace the file of the others.
pub(crate) fn ensure_whole<Model: TensorCollection<E, D>, E: Element, D: Device<E>>(
    model: &Model,
    path: &Path,
) -> Result<(), SaveError> {
    visit_tensors::<_, E, D, _>(model, "", |visited| {
        let dims = visited.tensor.dims_type_name();
        if !is_sharded(dims) {
            return Ok(());
        }
        let (parameter, dims) = (visited.path, without_paths(dims));
        let message =
            format!("`{parameter}` over `{dims}` is a rank's part; `Distributed::save` writes the whole model");
        Err(SaveError::Format { path: path.into(), message })
    })
}

/// The parameters of a model, with their paths below `prefix`.
pub(crate) fn collect<Model: TensorCollection<E, D>, E: Element, D: Device<E>>(
    model: &Model,
    prefix: &str,
) -> Vec<FileTensor> {
    let mut tensors = Vec::new();
    let Ok(()) = visit_tensors::<_, E, D, Infallible>(model, prefix, |visited| {
        tensors.push(FileTensor::new(visited.path, visited.tensor.sizes(), &visited.tensor.to_vec()));
        Ok(())
    });
    tensors
}

/// Writes the new content of a safetensors file. Equal tensors and metadata give equal bytes.
pub(crate) fn write(
    path: &Path,
    tensors: &[FileTensor],
    metadata: BTreeMap<String, String>,
) -> Result<StagedFile, SaveError> {
    // The order of the format's own library: large elements first, so that all are aligned.
    let mut tensors: Vec<_> = tensors.iter().collect();
    tensors.sort_by_key(|tensor| (Reverse(tensor.dtype), &tensor.path));
    let format_error = |message| SaveError::Format { path: path.into(), message };
    let header = header(&tensors, metadata).map_err(|error| format_error(error.to_string()))?;
    let (found, max) = (header.len() as u64, header::MAX_LEN_BYTES);
    if found > max {
        let what = "metadata, names and sizes of its tensors";
        return Err(format_error(format!("{what} take {found} bytes, but {max} are the maximum")));
    }
    let content = |file: &mut dyn Write| -> io::Result<()> {
        file.write_all(&(header.len() as u64).to_le_bytes())?;
        file.write_all(&header)?;
        tensors.iter().try_for_each(|tensor| file.write_all(&tensor.bytes))
    };
    StagedFile::write(path, content).map_err(|source| SaveError::Write { path: path.into(), source })
}

/// The header: JSON, with spaces at its end so that the tensors begin at a multiple of 8 bytes.
fn header(tensors: &[&FileTensor], mut metadata: BTreeMap<String, String>) -> serde_json::Result<Vec<u8>> {
    let (mut infos, mut end) = (BTreeMap::new(), 0);
    for tensor in tensors {
        let begin = end;
        end += tensor.bytes.len();
        let info = TensorInfo { dtype: tensor.dtype, shape: tensor.sizes.clone(), data_offsets: (begin, end) };
        infos.insert(tensor.path.clone(), info);
    }
    header::insert_checksums(&mut metadata, tensors, &infos)?;
    let mut entries = serde_json::Map::from_iter([("__metadata__".into(), serde_json::to_value(metadata)?)]);
    for (name, info) in infos {
        entries.insert(name, serde_json::to_value(info)?);
    }
    let mut json = serde_json::to_vec(&entries)?;
    json.resize(json.len().next_multiple_of(header::LEN_BYTES as usize), b' ');
    Ok(json)
}
