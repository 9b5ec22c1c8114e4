use super::{CONVENTIONS, SafetensorsDtype, conventions, ensure_regular_file};
use crate::nn::Module;
use dfdx::{
    nn::{RecursiveWalker, TensorCollection, TensorOptions, TensorVisitor, ViewTensorName, ViewTensorRef},
    shapes::{HasShape, Shape},
    tensor::Tensor,
    tensor_ops::Device,
};
use safetensors::{Dtype, serialize, tensor::TensorView};
use std::{
    collections::HashMap,
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

/// Why weights could not be saved.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// The file, or the folder that it is to stand in, cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The tensors cannot be put into the format.
    #[error("cannot write {}: {message}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What the format's library said.
        message: String,
    },
    /// A training is not saved with a NaN or an infinity in it, with which it could not go on.
    #[error("cannot write {}: `{tensor}` holds {value} at position {index}", path.display())]
    NotFinite {
        /// The file.
        path: PathBuf,
        /// Path of the tensor.
        tensor: String,
        /// Position in row-major order.
        index: usize,
        /// What stands there.
        value: f64,
    },
}

/// Saves a model, each parameter under its field path, and the [conventions](crate::nn::Conventions::conventions)
/// of its style.
///
/// The file appears whole or not at all: it is written beside `path` and then moved there.
///
/// # Errors
/// [`SaveError::Write`] if the file cannot be written; [`SaveError::Format`] if the format cannot hold
/// the tensors.
///
/// ```
/// use typed_transformer::{weights, nn::Linear, prelude::*};
/// dims! { pub EmbedDim = 8; pub VocabSize = 28; }
/// let device = Cpu::default();
/// let logit = Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&device);
/// let path = std::env::temp_dir().join("typed-transformer-save.safetensors");
/// weights::save(&logit, &path)?;
/// let loaded: Linear<EmbedDim, VocabSize, f32, Cpu> = weights::load(&path, &device)?;
/// assert_eq!(loaded.weight.as_vec(), logit.weight.as_vec());
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn save<Model, E, D>(model: &Model, path: impl AsRef<Path>) -> Result<(), SaveError>
where
    Model: Module + TensorCollection<E, D>,
    E: SafetensorsDtype,
    D: Device<E>,
{
    save_with_metadata(model, path, HashMap::new())
}

/// [`save`], and with the model texts under names, of which [`metadata`](super::metadata) reads them back:
/// what a model needs besides its weights, such as its vocabulary.
///
/// # Errors
/// Those of [`save`].
///
/// ```
/// use std::collections::HashMap;
/// use typed_transformer::{weights, nn::Linear, prelude::*};
/// dims! { pub EmbedDim = 8; pub VocabSize = 28; }
/// let logit = Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&Cpu::default());
/// let path = std::env::temp_dir().join("typed-transformer-metadata.safetensors");
/// let metadata = HashMap::from([("alphabet".to_string(), "abc".to_string())]);
/// weights::save_with_metadata(&logit, &path, metadata.clone())?;
/// assert_eq!(weights::metadata(&path)?, metadata);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn save_with_metadata<Model, E, D>(
    model: &Model,
    path: impl AsRef<Path>,
    mut metadata: HashMap<String, String>,
) -> Result<(), SaveError>
where
    Model: Module + TensorCollection<E, D>,
    E: SafetensorsDtype,
    D: Device<E>,
{
    let path = path.as_ref();
    let conventions = conventions::<Model>().into_iter();
    let lines: Vec<_> = conventions.map(|(name, value)| format!("{name}: {value}")).collect();
    if !lines.is_empty() {
        metadata.insert(CONVENTIONS.into(), lines.join("\n"));
    }
    let metadata = (!metadata.is_empty()).then_some(metadata);
    write(path, &collect(model, "", path)?, metadata)
}

/// A tensor as it is in a file.
pub(crate) struct FileTensor {
    pub path: String,
    pub sizes: Vec<usize>,
    pub dtype: Dtype,
    pub bytes: Vec<u8>,
}

impl FileTensor {
    pub fn new<E: SafetensorsDtype>(path: String, sizes: Vec<usize>, elements: &[E]) -> Self {
        let mut bytes = Vec::with_capacity(size_of_val(elements));
        elements.iter().for_each(|element| element.write(&mut bytes));
        Self { path, sizes, dtype: E::DTYPE, bytes }
    }
}

/// The parameters of a model, their paths below `prefix`, for the file at `path`.
pub(crate) fn collect<Model, E, D>(
    model: &Model,
    prefix: &str,
    path: &Path,
) -> Result<Vec<FileTensor>, SaveError>
where
    Model: TensorCollection<E, D>,
    E: SafetensorsDtype,
    D: Device<E>,
{
    let mut collect = Collect(Vec::new());
    Model::iter_tensors(&mut RecursiveWalker { m: (model, prefix.to_string()), f: &mut collect }).map_err(
        |error: D::Err| SaveError::Format { path: path.to_path_buf(), message: error.to_string() },
    )?;
    Ok(collect.0)
}

/// Writes a safetensors file in the place of what is there.
pub(crate) fn write(
    path: &Path,
    tensors: &[FileTensor],
    metadata: Option<HashMap<String, String>>,
) -> Result<(), SaveError> {
    let views = tensors.iter().map(|tensor| {
        let view = TensorView::new(tensor.dtype, tensor.sizes.clone(), &tensor.bytes)?;
        Ok((&tensor.path, view))
    });
    let bytes = views
        .collect::<Result<Vec<_>, _>>()
        .and_then(|views| serialize(views, metadata))
        .map_err(|error| SaveError::Format { path: path.to_path_buf(), message: error.to_string() })?;
    replace(path, &bytes).map_err(|source| SaveError::Write { path: path.to_path_buf(), source })
}

/// Finds out whether [`save`] will be able to write `path`, without touching what is there: to be
/// told before a long training and not after it.
///
/// # Errors
/// [`SaveError::Write`] if not.
///
/// ```
/// use typed_transformer::weights::ensure_writable;
/// assert!(ensure_writable(std::env::temp_dir().join("weights.safetensors")).is_ok());
/// assert!(ensure_writable("/no/such/folder/weights.safetensors").is_err());
/// ```
pub fn ensure_writable(path: impl AsRef<Path>) -> Result<(), SaveError> {
    let path = path.as_ref();
    let try_it = || {
        let (_, partial, _) = begin(path)?;
        fs::remove_file(partial)
    };
    try_it().map_err(|source| SaveError::Write { path: path.to_path_buf(), source })
}

/// Writes a file so that a reader, a crash or a full disk at any moment finds the old one or the new
/// one, whose permissions are those of the old one.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let (target, partial, mut file) = begin(path)?;
    let mut write = || {
        // Who could not read the old one cannot read the new one.
        if let Ok(old) = fs::metadata(&target) {
            file.set_permissions(old.permissions())?;
        }
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&partial, &target)?;
        sync_folder(&target);
        Ok(())
    };
    write().inspect_err(|_| {
        // The first error is the one to report.
        let _ = fs::remove_file(&partial);
    })
}

/// Sees to it that a new name outlives a power cut. Not every system can, and the file is whole
/// under its old or its new name anyway.
fn sync_folder(file: &Path) {
    if let Ok(folder) = File::open(folder(file)) {
        let _ = folder.sync_all();
    }
}

/// The folder that a file stands in.
fn folder(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// Removes what writers of `path` that were killed have left beside it.
///
/// Nobody else may be writing to `path`.
pub(crate) fn clear_partial(path: &Path) -> io::Result<()> {
    let target = target(path)?;
    let name = target.file_name().unwrap_or_default();
    for entry in fs::read_dir(folder(&target))? {
        let entry = entry?.file_name();
        let number = entry
            .as_encoded_bytes()
            .strip_prefix(name.as_encoded_bytes())
            .and_then(|rest| rest.strip_prefix(b"."))
            .and_then(|rest| rest.strip_suffix(b".partial"));
        let is_number = |n: &[u8]| !n.is_empty() && n.iter().all(u8::is_ascii_digit);
        if number.is_some_and(is_number) {
            fs::remove_file(target.with_file_name(entry))?;
        }
    }
    Ok(())
}

/// The file that is to be replaced, and a new one beside it that nobody else writes to.
fn begin(path: &Path) -> io::Result<(PathBuf, PathBuf, File)> {
    let target = target(path)?;
    let name = target.file_name().unwrap_or_default();
    let mut number = 0;
    loop {
        let mut partial = name.to_os_string();
        partial.push(format!(".{number}.partial"));
        let partial = target.with_file_name(partial);
        match File::create_new(&partial) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            result => return Ok((target, partial, result?)),
        }
    }
}

/// The file that `path` names, through links: it is there and ordinary, or not there.
fn target(path: &Path) -> io::Result<PathBuf> {
    let no = |why| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    match fs::metadata(path) {
        Ok(found) => {
            // Neither a device nor what is protected is to be replaced by a file.
            ensure_regular_file(&found)?;
            if found.permissions().readonly() {
                return Err(io::ErrorKind::PermissionDenied.into());
            }
            fs::canonicalize(path)
        }
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Err(_) => match path.file_name() {
            None => no("it names no file"),
            Some(name) if !path.as_os_str().as_encoded_bytes().ends_with(name.as_encoded_bytes()) => {
                no("it names a folder")
            }
            Some(_) => Ok(path.to_path_buf()),
        },
    }
}

/// Collects every parameter.
struct Collect(Vec<FileTensor>);

impl<E: SafetensorsDtype, D: Device<E>> TensorVisitor<E, D> for Collect {
    type Viewer = (ViewTensorRef, ViewTensorName);
    type Err = D::Err;
    type E2 = E;
    type D2 = D;

    fn visit<S: Shape>(
        &mut self,
        _: TensorOptions<S, E, D>,
        (parameter, path): (&Tensor<S, E, D>, String),
    ) -> Result<Option<Tensor<S, E, D>>, D::Err> {
        let sizes = parameter.shape().concrete().into();
        self.0.push(FileTensor::new(path, sizes, &parameter.as_vec()));
        Ok(None)
    }
}
