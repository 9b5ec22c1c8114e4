use super::Stored;
use crate::dims::name;
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
/// dimensions, not finite, or not the model's; or says that the file cannot be read or is damaged.
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
    Model: TensorCollection<E, D, To<E, D> = Model>,
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
