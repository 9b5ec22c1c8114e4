use super::{CONVENTIONS, Stored, conventions};
use crate::nn::Module;
use dfdx::{
    nn::{
        RecursiveWalker, TensorCollection, TensorOptions, TensorVisitor, ViewTensorName,
        ViewTensorRef,
    },
    shapes::{HasShape, Shape},
    tensor::Tensor,
    tensor_ops::Device,
};
use safetensors::{serialize, tensor::TensorView};
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
}

/// Saves a model, each parameter under its field path, and the conventions of its style.
///
/// The file appears whole or not at all: it is written beside `path` and then moved there.
///
/// # Errors
/// [`SaveError::Write`] if the file cannot be written; [`SaveError::Format`] if the format cannot hold
/// the tensors.
///
/// ```
/// use typed_transformer::{io, nn::Linear, prelude::*};
/// dims! { pub EmbedDim = 8; pub VocabSize = 28; }
/// let device = Cpu::default();
/// let logit = Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&device);
/// let path = std::env::temp_dir().join("typed-transformer-save.safetensors");
/// io::save(&logit, &path)?;
/// let loaded: Linear<EmbedDim, VocabSize, f32, Cpu> = io::load(&path, &device)?;
/// assert_eq!(loaded.weight.as_vec(), logit.weight.as_vec());
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn save<Model, E, D>(model: &Model, path: impl AsRef<Path>) -> Result<(), SaveError>
where
    Model: Module + TensorCollection<E, D>,
    E: Stored,
    D: Device<E>,
{
    let path = path.as_ref();
    let format = |message: String| SaveError::Format {
        path: path.to_path_buf(),
        message,
    };
    let mut collect = Collect(Vec::new());
    Model::iter_tensors(&mut RecursiveWalker {
        m: (model, String::new()),
        f: &mut collect,
    })
    .map_err(|error| format(error.to_string()))?;
    let views = collect.0.iter().map(|(name, shape, bytes)| {
        let view = TensorView::new(E::DTYPE, shape.clone(), bytes)?;
        Ok((name, view))
    });
    let bytes = views
        .collect::<Result<Vec<_>, _>>()
        .and_then(|views| serialize(views, metadata::<Model>()))
        .map_err(|error| format(error.to_string()))?;
    replace(path, &bytes).map_err(|source| SaveError::Write {
        path: path.to_path_buf(),
        source,
    })
}

/// The conventions of a model, if it has any.
fn metadata<Model: Module>() -> Option<HashMap<String, String>> {
    let phrases: Vec<_> = conventions::<Model>().into_iter().collect();
    (!phrases.is_empty()).then(|| HashMap::from([(CONVENTIONS.into(), phrases.join("\n"))]))
}

/// Finds out whether [`save`] will be able to write `path`, without touching what is there: to be
/// told before a long training and not after it.
///
/// # Errors
/// [`SaveError::Write`] if not.
///
/// ```
/// use typed_transformer::io::ensure_writable;
/// assert!(ensure_writable(std::env::temp_dir().join("weights.safetensors")).is_ok());
/// assert!(ensure_writable("/no/such/folder/weights.safetensors").is_err());
/// ```
pub fn ensure_writable(path: impl AsRef<Path>) -> Result<(), SaveError> {
    let path = path.as_ref();
    let try_it = || {
        let (_, partial, _) = begin(path)?;
        fs::remove_file(partial)
    };
    try_it().map_err(|source| SaveError::Write {
        path: path.to_path_buf(),
        source,
    })
}

/// Writes a file so that a reader, a crash or a full disk at any moment finds the old one or the new
/// one.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let (target, partial, mut file) = begin(path)?;
    let mut write = || {
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&partial, &target)
    };
    write().inspect_err(|_| {
        // The first error is the one to report.
        let _ = fs::remove_file(&partial);
    })
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
        Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        // A device is not to be replaced by a file.
        Ok(found) if !found.is_file() => no("it is no ordinary file"),
        Ok(_) => fs::canonicalize(path),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Err(_) => match path.file_name() {
            None => no("it names no file"),
            Some(name)
                if !path
                    .as_os_str()
                    .as_encoded_bytes()
                    .ends_with(name.as_encoded_bytes()) =>
            {
                no("it names a folder")
            }
            Some(_) => Ok(path.to_path_buf()),
        },
    }
}

/// Collects every parameter: its path, its sizes, its bytes.
struct Collect(Vec<(String, Vec<usize>, Vec<u8>)>);

impl<E: Stored, D: Device<E>> TensorVisitor<E, D> for Collect {
    type Viewer = (ViewTensorRef, ViewTensorName);
    type Err = D::Err;
    type E2 = E;
    type D2 = D;

    fn visit<S: Shape>(
        &mut self,
        _: TensorOptions<S, E, D>,
        (parameter, path): (&Tensor<S, E, D>, String),
    ) -> Result<Option<Tensor<S, E, D>>, D::Err> {
        let mut bytes = Vec::new();
        for element in parameter.as_vec() {
            element.write(&mut bytes);
        }
        self.0
            .push((path, parameter.shape().concrete().into(), bytes));
        Ok(None)
    }
}
