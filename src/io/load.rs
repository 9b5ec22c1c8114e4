use super::{CONVENTIONS, Stored, conventions, elements_of, first_not_finite};
use crate::{dims::name, nn::Module};
use dfdx::{
    nn::{RecursiveWalker, TensorCollection, TensorOptions, TensorVisitor, ViewTensorName},
    shapes::Shape,
    tensor::Tensor,
    tensor_ops::Device,
};
use safetensors::{Dtype, SafeTensors};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fs,
    path::{Path, PathBuf},
};

/// Why weights could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is not a whole safetensors file.
    #[error("{} is damaged or not a safetensors file: {message}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// The weights are those of a model that computes something else from them.
    #[error("the model's {convention} is {expected}, but that of the weights is {found}")]
    Convention {
        /// What differs.
        convention: String,
        /// What it is in the model.
        expected: String,
        /// What it is in the file.
        found: String,
    },
    /// The model has a tensor that the file lacks.
    #[error("`{tensor}` of {expected} is missing")]
    Missing {
        /// Path of the tensor.
        tensor: String,
        /// Its dimensions in the model.
        expected: String,
    },
    /// The file has a tensor that the model lacks.
    #[error("`{tensor}` is in the file but not in the model")]
    Unexpected {
        /// Path of the tensor.
        tensor: String,
    },
    /// A tensor's elements are of another type.
    #[error("`{tensor}` should hold {expected:?} but holds {found:?}")]
    Dtype {
        /// Path of the tensor.
        tensor: String,
        /// Element type in the model.
        expected: Dtype,
        /// Element type in the file.
        found: Dtype,
    },
    /// A tensor's dimensions are not those of the model.
    #[error("`{tensor}` should be {expected} but is {found:?}")]
    Shape {
        /// Path of the tensor.
        tensor: String,
        /// Dimensions in the model, with their sizes.
        expected: String,
        /// Sizes in the file.
        found: Vec<usize>,
    },
    /// A tensor holds a NaN or an infinity.
    #[error("`{tensor}` holds {value} at position {index}")]
    NotFinite {
        /// Path of the tensor.
        tensor: String,
        /// Position in row-major order.
        index: usize,
        /// What stands there.
        value: f64,
    },
    /// The device failed.
    #[error("`{tensor}`: {message}")]
    Device {
        /// Path of the tensor.
        tensor: String,
        /// What the device said.
        message: String,
    },
}

/// Builds a model from a file that [`save`](super::save) wrote, or another system under the same paths.
///
/// # Errors
/// A [`LoadError`] that names the first tensor which is missing, of another dtype, of other
/// dimensions, not finite, or not the model's; or names the first [convention](crate::nn::Style::conventions)
/// in which the saved model differs, of which a file of another system says nothing; or says that the
/// file cannot be read or is damaged.
///
/// ```
/// use typed_transformer::{io, nn::Linear, prelude::*};
/// dims! { pub EmbedDim = 8; pub VocabSize = 28; pub OtherVocab = 30; }
/// let device = Cpu::default();
/// let path = std::env::temp_dir().join("typed-transformer-load.safetensors");
/// io::save(&Linear::<EmbedDim, OtherVocab, f32, Cpu>::build(&device), &path)?;
/// let error = io::load::<Linear<EmbedDim, VocabSize, f32, Cpu>, _, _>(&path, &device).unwrap_err();
/// assert_eq!(error.to_string(), "`weight` should be (VocabSize=28, EmbedDim=8) but is [30, 8]");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn load<Model, E, D>(path: impl AsRef<Path>, device: &D) -> Result<Model, LoadError>
where
    Model: Module + TensorCollection<E, D, To<E, D> = Model>,
    E: Stored,
    D: Device<E>,
{
    let path = path.as_ref();
    let bytes = read(path)?;
    let file = parse(path, &bytes)?;
    compare_conventions::<Model>(&bytes)?;
    let mut known = BTreeSet::new();
    let model = build(path, &file, "", device, &mut known)?;
    refuse_others(&file, &known)?;
    Ok(model)
}

/// The texts that a file has beside its tensors, by their names, as
/// [`save_with_metadata`](super::save_with_metadata) and other systems write them; none if it has none.
///
/// # Errors
/// [`LoadError::Read`] if the file cannot be read; [`LoadError::Format`] if it is damaged.
///
/// ```
/// use typed_transformer::io;
/// let error = io::metadata("/no/such/file.safetensors").unwrap_err();
/// assert!(error.to_string().starts_with("cannot read /no/such/file.safetensors: "));
/// ```
pub fn metadata(path: impl AsRef<Path>) -> Result<HashMap<String, String>, LoadError> {
    let path = path.as_ref();
    let bytes = read(path)?;
    let (_, header) = SafeTensors::read_metadata(&bytes).map_err(|error| LoadError::Format {
        path: path.to_path_buf(),
        message: error.to_string(),
    })?;
    let mut metadata = header.metadata().clone().unwrap_or_default();
    metadata.remove(CONVENTIONS);
    Ok(metadata)
}

/// A file's bytes.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, LoadError> {
    fs::read(path).map_err(|source| LoadError::Read {
        path: path.to_path_buf(),
        source,
    })
}

/// The tensors in a file's bytes.
pub(crate) fn parse<'a>(path: &Path, bytes: &'a [u8]) -> Result<SafeTensors<'a>, LoadError> {
    SafeTensors::deserialize(bytes).map_err(|error| LoadError::Format {
        path: path.to_path_buf(),
        message: error.to_string(),
    })
}

/// Compares the conventions that a model was saved with, if the file says, with those of this one.
fn compare_conventions<Model: Module>(bytes: &[u8]) -> Result<(), LoadError> {
    let metadata = SafeTensors::read_metadata(bytes).ok();
    let metadata = metadata.and_then(|(_, file)| file.metadata().clone());
    let Some(lines) = metadata.and_then(|mut metadata| metadata.remove(CONVENTIONS)) else {
        return Ok(());
    };
    let found: BTreeMap<_, _> = lines
        .lines()
        .filter_map(|line| line.split_once(": "))
        .collect();
    let expected = conventions::<Model>();
    let expected: BTreeMap<_, _> = expected
        .iter()
        .map(|(a, b)| (a.as_str(), b.as_str()))
        .collect();
    for &convention in expected.keys().chain(found.keys()) {
        let value = |of: &BTreeMap<_, &str>| of.get(convention).unwrap_or(&"none").to_string();
        if expected.get(convention) != found.get(convention) {
            return Err(LoadError::Convention {
                convention: convention.to_string(),
                expected: value(&expected),
                found: value(&found),
            });
        }
    }
    Ok(())
}

/// Builds a model from the tensors below `prefix`, and adds their paths to the known ones.
pub(crate) fn build<Model, E, D>(
    path: &Path,
    file: &SafeTensors,
    prefix: &str,
    device: &D,
    known: &mut BTreeSet<String>,
) -> Result<Model, LoadError>
where
    Model: TensorCollection<E, D, To<E, D> = Model>,
    E: Stored,
    D: Device<E>,
{
    let mut build = Build {
        file,
        device,
        known,
    };
    let model = Model::iter_tensors(&mut RecursiveWalker {
        m: prefix.to_string(),
        f: &mut build,
    })?;
    model.ok_or_else(|| LoadError::Format {
        path: path.to_path_buf(),
        message: format!("{} has no parameters", name::<Model>()),
    })
}

/// The first tensor, by its path, that nobody has asked for is an error.
pub(crate) fn refuse_others(file: &SafeTensors, known: &BTreeSet<String>) -> Result<(), LoadError> {
    let names = file.names().into_iter();
    match names.filter(|tensor| !known.contains(*tensor)).min() {
        None => Ok(()),
        Some(tensor) => Err(LoadError::Unexpected {
            tensor: tensor.to_string(),
        }),
    }
}

/// The elements of one tensor, if it is there, of these dimensions and finite.
pub(crate) fn elements<E: Stored>(
    file: &SafeTensors,
    tensor: &str,
    shape: impl Shape,
) -> Result<Vec<E>, LoadError> {
    let tensor = tensor.to_string();
    let Ok(view) = file.tensor(&tensor) else {
        return Err(LoadError::Missing {
            tensor,
            expected: format!("{shape:?}"),
        });
    };
    if view.dtype() != E::DTYPE {
        return Err(LoadError::Dtype {
            tensor,
            expected: E::DTYPE,
            found: view.dtype(),
        });
    }
    if view.shape() != shape.concrete().as_ref() {
        return Err(LoadError::Shape {
            tensor,
            expected: format!("{shape:?}"),
            found: view.shape().to_vec(),
        });
    }
    let elements = elements_of(view.data());
    match first_not_finite(&elements) {
        None => Ok(elements),
        Some((index, value)) => Err(LoadError::NotFinite {
            tensor,
            index,
            value,
        }),
    }
}

/// Builds each parameter from the tensor of its path.
struct Build<'a, D> {
    file: &'a SafeTensors<'a>,
    device: &'a D,
    known: &'a mut BTreeSet<String>,
}

impl<E: Stored, D: Device<E>> TensorVisitor<E, D> for Build<'_, D> {
    type Viewer = ViewTensorName;
    type Err = LoadError;
    type E2 = E;
    type D2 = D;

    fn visit<S: Shape>(
        &mut self,
        options: TensorOptions<S, E, D>,
        tensor: String,
    ) -> Result<Option<Tensor<S, E, D>>, LoadError> {
        let elements = elements(self.file, &tensor, options.shape)?;
        let parameter = self
            .device
            .try_tensor_from_vec(elements, options.shape)
            .map_err(|error| LoadError::Device {
                tensor: tensor.clone(),
                message: error.to_string(),
            })?;
        self.known.insert(tensor);
        Ok(Some(parameter))
    }
}
