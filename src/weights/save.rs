use super::{CONVENTIONS, SafetensorsDtype, SaveError, atomic::write_atomically, conventions};
use crate::nn::Module;
use dfdx::{
    nn::{RecursiveWalker, TensorCollection, TensorOptions, TensorVisitor, ViewTensorName, ViewTensorRef},
    shapes::{HasShape, Shape},
    tensor::Tensor,
    tensor_ops::Device,
};
use safetensors::{Dtype, serialize, tensor::TensorView};
use std::{collections::HashMap, path::Path};

/// Saves a model as safetensors: each parameter under its field path, and in the metadata the model's
/// [conventions](crate::nn::Conventions::conventions).
///
/// The file is replaced atomically: it is written beside `path` and then renamed.
///
/// # Errors
/// [`SaveError::Write`] if the file cannot be written; [`SaveError::Format`] if the format cannot hold
/// the tensors.
///
/// ```
/// use typed_transformer::{doctest::*, nn::Linear, prelude::*, weights};
/// let device = Cpu::default();
/// let linear = Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&device);
/// let path = std::env::temp_dir().join("typed-transformer-save.safetensors");
/// weights::save(&linear, &path)?;
/// let loaded: Linear<EmbedDim, VocabSize, f32, Cpu> = weights::load(&path, &device)?;
/// assert_eq!(loaded.weight.as_vec(), linear.weight.as_vec());
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

/// [`save`] with further metadata, strings by key: what a model needs besides its weights, such as its
/// vocabulary. [`metadata`](super::metadata) reads them.
///
/// # Errors
/// Those of [`save`].
///
/// ```
/// use std::collections::HashMap;
/// use typed_transformer::{doctest::*, nn::Linear, prelude::*, weights};
/// let linear = Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&Cpu::default());
/// let path = std::env::temp_dir().join("typed-transformer-metadata.safetensors");
/// let metadata = HashMap::from([("alphabet".to_string(), "abc".to_string())]);
/// weights::save_with_metadata(&linear, &path, metadata.clone())?;
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

/// A tensor in the form of the file: little-endian bytes in row-major order.
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

/// The parameters of a model, with their paths below `prefix`. Errors name the file at `path`.
pub(crate) fn collect<Model, E, D>(model: &Model, prefix: &str, path: &Path) -> Result<Vec<FileTensor>, SaveError>
where
    Model: TensorCollection<E, D>,
    E: SafetensorsDtype,
    D: Device<E>,
{
    let mut collect = CollectParameters(Vec::new());
    Model::iter_tensors(&mut RecursiveWalker { m: (model, prefix.to_string()), f: &mut collect })
        .map_err(|error: D::Err| SaveError::Format { path: path.to_path_buf(), message: error.to_string() })?;
    Ok(collect.0)
}

/// Writes a safetensors file, atomically.
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
    write_atomically(path, &bytes).map_err(|source| SaveError::Write { path: path.to_path_buf(), source })
}

/// Collects all parameters.
struct CollectParameters(Vec<FileTensor>);

impl<E: SafetensorsDtype, D: Device<E>> TensorVisitor<E, D> for CollectParameters {
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
