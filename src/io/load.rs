use super::{CONVENTIONS, Stored, conventions};
use crate::{dims::name, nn::Module};
use dfdx::{
    nn::{RecursiveWalker, TensorCollection, TensorOptions, TensorVisitor, ViewTensorName},
    shapes::Shape,
    tensor::Tensor,
    tensor_ops::Device,
};
use safetensors::{Dtype, SafeTensors};
use std::{
    collections::BTreeSet,
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
    #[error("the model has {expected}, but the weights are of one with {found}")]
    Conventions {
        /// The model's conventions that are not those of the weights.
        expected: String,
        /// The conventions of the weights that are not those of the model.
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
/// dimensions, not finite, or not the model's; or says that the file cannot be read, is damaged, or is of
/// a model of other [conventions](crate::nn::Style::conventions). A file of another system says nothing of
/// these.
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
    let format = |message: String| LoadError::Format {
        path: path.to_path_buf(),
        message,
    };
    let bytes = fs::read(path).map_err(|source| LoadError::Read {
        path: path.to_path_buf(),
        source,
    })?;
    let file = SafeTensors::deserialize(&bytes).map_err(|error| format(error.to_string()))?;
    let (_, metadata) =
        SafeTensors::read_metadata(&bytes).map_err(|error| format(error.to_string()))?;
    let written = metadata
        .metadata()
        .as_ref()
        .and_then(|all| all.get(CONVENTIONS));
    written.map_or(Ok(()), |written| compare_conventions::<Model>(written))?;
    let mut build = Build {
        file: &file,
        device,
        built: BTreeSet::new(),
    };
    let model = Model::iter_tensors(&mut RecursiveWalker {
        m: String::new(),
        f: &mut build,
    })?;
    let left = file
        .names()
        .into_iter()
        .filter(|tensor| !build.built.contains(*tensor))
        .min();
    if let Some(tensor) = left {
        return Err(LoadError::Unexpected {
            tensor: tensor.to_string(),
        });
    }
    model.ok_or_else(|| format(format!("{} has no parameters", name::<Model>())))
}

/// Compares the conventions that a file was written with, one a line, with those of the model.
fn compare_conventions<Model: Module>(written: &str) -> Result<(), LoadError> {
    let found = written.lines().map(String::from).collect();
    let expected = conventions::<Model>();
    if found == expected {
        return Ok(());
    }
    let only = |one: &BTreeSet<String>, other: &BTreeSet<String>| {
        let phrases: Vec<_> = one.difference(other).cloned().collect();
        match phrases.is_empty() {
            true => "nothing of the kind".to_string(),
            false => phrases.join(", "),
        }
    };
    Err(LoadError::Conventions {
        expected: only(&expected, &found),
        found: only(&found, &expected),
    })
}

/// Builds each parameter from the tensor of its path.
struct Build<'a, D> {
    file: &'a SafeTensors<'a>,
    device: &'a D,
    built: BTreeSet<String>,
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
        let shape = options.shape;
        let Ok(view) = self.file.tensor(&tensor) else {
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
        let elements: Vec<E> = view
            .data()
            .chunks_exact(size_of::<E>())
            .filter_map(E::read)
            .collect();
        if let Some(index) = elements.iter().position(|element| !element.is_finite()) {
            return Err(LoadError::NotFinite {
                tensor,
                index,
                value: elements[index].to_f64().unwrap_or(f64::NAN),
            });
        }
        let parameter = self
            .device
            .try_tensor_from_vec(elements, shape)
            .map_err(|error| LoadError::Device {
                tensor: tensor.clone(),
                message: error.to_string(),
            })?;
        self.built.insert(tensor);
        Ok(Some(parameter))
    }
}
