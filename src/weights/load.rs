use super::{CONVENTIONS, ExpectedTensor, NameMap, SafetensorsDtype, TensorFile, conventions};
use crate::{dims::name, nn::Module};
use dfdx::{
    nn::{RecursiveWalker, TensorCollection, TensorOptions, TensorVisitor, ViewTensorName},
    shapes::Shape,
    tensor::Tensor,
    tensor_ops::Device,
};
use safetensors::Dtype;
use std::{
    collections::{BTreeMap, HashMap},
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
    /// No line of the [`NameMap`] is for a parameter of the model.
    #[error("the names have no line for `{tensor}` of {expected}")]
    Unmapped {
        /// Path of the tensor.
        tensor: String,
        /// Its dimensions in the model.
        expected: String,
    },
    /// What a line of the [`NameMap`] says of a parameter does not fit the file.
    #[error("{source}, read as `{read_as}`")]
    Mapped {
        /// What does not fit.
        source: Box<LoadError>,
        /// What the line says: a name in the file, and how the tensor lies there.
        read_as: String,
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
/// dimensions, not finite, or not the model's; or names the first [convention](crate::nn::Conventions::conventions)
/// in which the saved model differs, of which a file of another system says nothing; or says that the
/// file cannot be read or is damaged.
///
/// ```
/// use typed_transformer::{weights, nn::Linear, prelude::*};
/// dims! { pub EmbedDim = 8; pub VocabSize = 28; pub OtherVocab = 30; }
/// let device = Cpu::default();
/// let path = std::env::temp_dir().join("typed-transformer-load.safetensors");
/// weights::save(&Linear::<EmbedDim, OtherVocab, f32, Cpu>::build(&device), &path)?;
/// let error = weights::load::<Linear<EmbedDim, VocabSize, f32, Cpu>, _, _>(&path, &device).unwrap_err();
/// assert_eq!(error.to_string(), "`weight` should be (VocabSize=28, EmbedDim=8) but is [30, 8]");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn load<Model, E, D>(path: impl AsRef<Path>, device: &D) -> Result<Model, LoadError>
where
    Model: Module + TensorCollection<E, D, To<E, D> = Model>,
    E: SafetensorsDtype,
    D: Device<E>,
{
    let mut file = TensorFile::open(path.as_ref())?;
    compare_conventions::<Model>(&file)?;
    let model = build(&mut file, "", device)?;
    file.ensure_all_read(|_| false)?;
    Ok(model)
}

/// [`load`] for a file whose tensors have other names, or lie in another way, than the model's: as PyTorch,
/// Flax and Equinox write them.
///
/// # Errors
/// Those of [`load`], with what the names say of the tensor; and [`LoadError::Unmapped`] for a parameter
/// that they say nothing of. A tensor of the file that is neither read as a whole nor in each of its
/// parts is an error unless the names ignore it.
///
/// ```
/// use safetensors::{Dtype, serialize, tensor::TensorView};
/// use typed_transformer::{weights, nn::Linear, prelude::*};
/// dims! { pub InDim = 2; pub OutDim = 3; }
///
/// // A dense layer of Flax: its kernel is of (InDim, OutDim).
/// let [kernel, bias] = [&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0][..], &[7.0, 8.0, 9.0]]
///     .map(|numbers| numbers.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>());
/// let tensors = [
///     ("Dense_0.kernel", TensorView::new(Dtype::F32, vec![2, 3], &kernel)?),
///     ("Dense_0.bias", TensorView::new(Dtype::F32, vec![3], &bias)?),
/// ];
/// let path = std::env::temp_dir().join("typed-transformer-renamed.safetensors");
/// std::fs::write(&path, serialize(tensors, None)?)?;
///
/// let names = "
///     weight = Dense_0.kernel [in out -> out in]
///     bias = Dense_0.bias
/// ";
/// let linear: Linear<InDim, OutDim, f32, Cpu> =
///     weights::load_mapped(&path, &names.parse()?, &Cpu::default())?;
/// assert_eq!(linear.weight.as_vec(), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
///
/// let names = "*ght = Dense_0.kernel\n bias = Dense_0.bias";
/// let error = weights::load_mapped::<Linear<InDim, OutDim, f32, Cpu>, _, _>(&path, &names.parse()?, &Cpu::default());
/// assert_eq!(
///     error.unwrap_err().to_string(),
///     "`weight` should be (OutDim=3, InDim=2) but is [2, 3], read as `Dense_0.kernel`",
/// );
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn load_mapped<Model, E, D>(
    path: impl AsRef<Path>,
    names: &NameMap,
    device: &D,
) -> Result<Model, LoadError>
where
    Model: Module + TensorCollection<E, D, To<E, D> = Model>,
    E: SafetensorsDtype,
    D: Device<E>,
{
    let mut file = TensorFile::open(path.as_ref())?;
    compare_conventions::<Model>(&file)?;
    let read = |wanted: &ExpectedTensor| names.read(&mut file, wanted);
    let model = build_by(path.as_ref(), "", device, read)?;
    file.ensure_all_read(|tensor| names.ignores(tensor))?;
    Ok(model)
}

/// The texts that a file has beside its tensors, by their names, as
/// [`save_with_metadata`](super::save_with_metadata) and other systems write them; none if it has none.
///
/// # Errors
/// [`LoadError::Read`] if the file cannot be read; [`LoadError::Format`] if it is damaged.
///
/// ```
/// use typed_transformer::weights;
/// let error = weights::metadata("/no/such/file.safetensors").unwrap_err();
/// assert!(error.to_string().starts_with("cannot read /no/such/file.safetensors: "));
/// ```
pub fn metadata(path: impl AsRef<Path>) -> Result<HashMap<String, String>, LoadError> {
    let mut metadata = TensorFile::open(path.as_ref())?.texts().clone();
    metadata.remove(CONVENTIONS);
    Ok(metadata)
}

/// Compares the conventions that a model was saved with, if the file says, with those of this one.
fn compare_conventions<Model: Module>(file: &TensorFile) -> Result<(), LoadError> {
    let Some(lines) = file.texts().get(CONVENTIONS) else {
        return Ok(());
    };
    let found: BTreeMap<_, _> = lines.lines().filter_map(|line| line.split_once(": ")).collect();
    let expected = conventions::<Model>();
    let expected: BTreeMap<_, _> = expected.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
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

/// Builds a model from the tensors below `prefix`.
pub(crate) fn build<Model, E, D>(file: &mut TensorFile, prefix: &str, device: &D) -> Result<Model, LoadError>
where
    Model: TensorCollection<E, D, To<E, D> = Model>,
    E: SafetensorsDtype,
    D: Device<E>,
{
    let path = file.path().to_path_buf();
    build_by(&path, prefix, device, |wanted| file.read(wanted))
}

/// Builds a model of what `read` gives for each of its parameters, their paths below `prefix`.
fn build_by<Model, E, D>(
    path: &Path,
    prefix: &str,
    device: &D,
    read: impl FnMut(&ExpectedTensor) -> Result<Vec<E>, LoadError>,
) -> Result<Model, LoadError>
where
    Model: TensorCollection<E, D, To<E, D> = Model>,
    E: SafetensorsDtype,
    D: Device<E>,
{
    let model =
        Model::iter_tensors(&mut RecursiveWalker { m: prefix.to_string(), f: &mut Build { device, read } })?;
    model.ok_or_else(|| LoadError::Format {
        path: path.to_path_buf(),
        message: format!("{} has no parameters", name::<Model>()),
    })
}

/// Builds each parameter.
struct Build<'a, D, Read> {
    device: &'a D,
    read: Read,
}

impl<E, D, Read> TensorVisitor<E, D> for Build<'_, D, Read>
where
    E: SafetensorsDtype,
    D: Device<E>,
    Read: FnMut(&ExpectedTensor) -> Result<Vec<E>, LoadError>,
{
    type Viewer = ViewTensorName;
    type Err = LoadError;
    type E2 = E;
    type D2 = D;

    fn visit<S: Shape>(
        &mut self,
        options: TensorOptions<S, E, D>,
        tensor: String,
    ) -> Result<Option<Tensor<S, E, D>>, LoadError> {
        let elements = (self.read)(&ExpectedTensor::new(&tensor, &options.shape))?;
        match self.device.try_tensor_from_vec(elements, options.shape) {
            Ok(parameter) => Ok(Some(parameter)),
            Err(error) => Err(LoadError::Device { tensor, message: error.to_string() }),
        }
    }
}
