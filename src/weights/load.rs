//! Loading a model from a file of weights.

use super::{
    ATTENTION_SCALE, CONVENTIONS, ExpectedTensor, LoadError, NameMap, OPTIONAL_CONVENTIONS, ROTARY_POSITIONS,
    TensorFile, WeightFiles, conventions,
};
use crate::nn::Module;
use crate::nn::module::ParamShape;
use crate::ranks::{Element, RankAxis, Ranks};
use dfdx::{dtypes::Dtype, tensor::Tensor, tensor_ops::Device};
use std::collections::{BTreeMap, HashMap};
use std::{any::Any, path::Path};

/// Loads a model from a safetensors file whose tensors have the field paths of the model as names, as
/// [`save`](super::save) writes it.
///
/// # Errors
/// A [`LoadError`] if the file cannot be read or is damaged. Otherwise it names the first tensor that is missing, has
/// another dtype, has other dimensions, is damaged, is not finite, or is not in the model; or the first
/// [convention](crate::nn::Conventions::conventions) that differs. Files of other systems store no conventions, so none
/// are compared. [`LoadError::Checkpoint`] if the file is the checkpoint of a training run, whose model [`load_mapped`]
/// reads.
///
/// ```
/// use typed_transformer::{doctest::*, nn::Linear, prelude::*, weights};
/// dims! { pub OtherVocab = 30; }
/// let device = Cpu::default();
/// let path = std::env::temp_dir().join(format!("load-{}.safetensors", std::process::id()));
/// weights::save(&Linear::<EmbedDim, OtherVocab, f32, Cpu>::build(&device), &path)?;
/// let error = weights::load::<Linear<EmbedDim, VocabSize, f32, Cpu>, _, _>(&path, &device).unwrap_err();
/// assert_eq!(error.to_string(), "`weight` should be (VocabSize=28, EmbedDim=8) but is [30, 8]");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn load<Model: Module + Loadable<E, D>, E: Element, D: Device<E>>(
    path: impl AsRef<Path>,
    device: &D,
) -> Result<Model, LoadError> {
    let mut file = TensorFile::open_weights(path.as_ref())?;
    compare_conventions::<Model>(&file, false)?;
    let model = load_from("", device, &mut |expected| file.read(expected))?;
    file.ensure_all_read(|_| false)?;
    Ok(model)
}

/// [`load`] for a file whose tensors have other names or another layout than the model's, such as files of
/// PyTorch, Flax and Equinox.
///
/// `path` is a file, the index of a model in several files, or a folder with one of the two: `model.safetensors` or
/// `model.safetensors.index.json`.
///
/// If the map ignores tensors, the model may be a part of the saved one: only the conventions of this part are
/// compared.
///
/// # Errors
/// Those of [`load`], wrapped in [`LoadError::Mapped`] if they concern a parameter, and
/// [`LoadError::Unmapped`] for a parameter without a rule. A tensor of the file that is not read, or not in
/// all its parts, is [`LoadError::Unexpected`] unless the map ignores it. [`LoadError::OtherCopy`] if a tensor that the
/// map calls a copy differs from its original. [`LoadError::NoWeights`] if a folder has no such file, and
/// [`LoadError::Index`] if files and index differ.
///
/// ```
/// use safetensors::{Dtype, serialize, tensor::TensorView};
/// use typed_transformer::{nn::Linear, prelude::*, weights};
/// dims! { pub InDim = 2; pub OutDim = 3; }
///
/// // A dense layer of Flax, whose kernel is (InDim, OutDim).
/// let [kernel, bias] = [&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0][..], &[7.0, 8.0, 9.0]]
///     .map(|numbers| numbers.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>());
/// let tensors = [
///     ("Dense_0.kernel", TensorView::new(Dtype::F32, vec![2, 3], &kernel)?),
///     ("Dense_0.bias", TensorView::new(Dtype::F32, vec![3], &bias)?),
/// ];
/// let path = std::env::temp_dir().join(format!("mapped-{}.safetensors", std::process::id()));
/// std::fs::write(&path, serialize(tensors, None)?)?;
///
/// let names = "weight = Dense_0.kernel [in out -> out in]\n bias = Dense_0.bias".parse()?;
/// let linear: Linear<InDim, OutDim, f32, Cpu> = weights::load_mapped(&path, &names, &Cpu::default())?;
/// assert_eq!(linear.weight.as_vec(), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn load_mapped<Model: Module + Loadable<E, D>, E: Element, D: Device<E>>(
    path: impl AsRef<Path>,
    names: &NameMap,
    device: &D,
) -> Result<Model, LoadError> {
    build_mapped(&mut WeightFiles::open(path.as_ref())?, names, device)
}

/// Builds a model from the tensors that `names` maps its parameters to.
pub(super) fn build_mapped<Model: Module + Loadable<E, D>, E: Element, D: Device<E>>(
    files: &mut WeightFiles,
    names: &NameMap,
    device: &D,
) -> Result<Model, LoadError> {
    let is_part = files.unread().iter().any(|tensor| names.ignores(tensor));
    files.files.iter().try_for_each(|file| compare_conventions::<Model>(file, is_part))?;
    let model = load_from("", device, &mut |expected| names.read(files, expected))?;
    names.compare_copies(files)?;
    files.ensure_all_read(|tensor| names.ignores(tensor))?;
    Ok(model)
}

/// The metadata of a safetensors file, strings by key, as
/// [`save_with_metadata`](super::save_with_metadata) and other systems write them. Empty if there are none.
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
    let file = TensorFile::open(path.as_ref())?;
    let entries = file.metadata().iter().filter(|(key, _)| *key != CONVENTIONS);
    Ok(entries.map(|(key, value)| (key.clone(), value.clone())).collect())
}

/// A module, or a parameter of one, whose elements are read from tensors with names.
/// [`#[module]`](macro@crate::module) implements it.
///
/// ```
/// use typed_transformer::{doctest::*, nn::Linear, prelude::*, weights::Loadable};
/// fn is_loadable<Model: Loadable<f32, Cpu>>() {}
/// is_loadable::<Linear<EmbedDim, VocabSize, f32, Cpu>>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a module whose parameters can be loaded",
    label = "`{Self}` does not implement `Loadable`",
    note = "`#[module]` on a struct implements it; a function that is generic in the model needs the bound `Loadable<E, D>`"
)]
#[allow(missing_docs)]
pub trait Loadable<E: Dtype, D: Device<E>>: Sized {
    #[doc(hidden)]
    fn load_from(source: &mut TensorSource<'_, E, D>, path: &str) -> Result<Self, LoadError>;
}

/// What reads the elements of a parameter.
type ReadElements<'a, E> = dyn FnMut(&ExpectedTensor) -> Result<Vec<E>, LoadError> + 'a;

/// A source of the elements of parameters, one tensor at a time.
#[doc(hidden)]
pub struct TensorSource<'a, E, D> {
    device: &'a D,
    read: &'a mut ReadElements<'a, E>,
    /// The `Ranks` that divide the model.
    ranks: Option<&'a dyn Any>,
}

impl<'a, E, D> TensorSource<'a, E, D> {
    pub(crate) fn new(device: &'a D, read: &'a mut ReadElements<'a, E>) -> Self {
        Self { device, read, ranks: None }
    }

    /// The same, for a model that these ranks divide.
    pub(crate) fn on_ranks<Axis: RankAxis>(self, ranks: &'a Ranks<Axis>) -> Self {
        Self { ranks: Some(ranks), ..self }
    }

    /// The ranks that divide the model, if they are those of `Axis`.
    pub(crate) fn ranks<Axis: RankAxis>(&self) -> Option<Ranks<Axis>> {
        self.ranks?.downcast_ref().cloned()
    }

    pub(crate) fn device(&self) -> &D {
        self.device
    }

    /// The elements of the parameter at `path`, in row-major order.
    pub(crate) fn read<Dims: ParamShape>(&mut self, path: &str, dims: &Dims) -> Result<Vec<E>, LoadError> {
        (self.read)(&ExpectedTensor { path, sizes: dims.concrete().into_iter().collect(), dims })
    }

    /// The parameter at `path` as a tensor.
    pub(crate) fn tensor<Dims: ParamShape>(&mut self, path: &str, shape: Dims) -> Result<Tensor<Dims, E, D>, LoadError>
    where
        E: Dtype,
        D: Device<E>,
    {
        let elements = self.read(path, &shape)?;
        // A parameter that is loaded is read again and again, by each token of a text.
        typed_transformer_cpu::prefer_huge_pages(&elements, true);
        let tensor = self.device.try_tensor_from_vec(elements, shape);
        tensor.map_err(|error| LoadError::Device { tensor: path.into(), message: error.to_string() })
    }
}

#[diagnostic::do_not_recommend]
impl<Dims: ParamShape, E: Dtype, D: Device<E>> Loadable<E, D> for Tensor<Dims, E, D> {
    fn load_from(source: &mut TensorSource<'_, E, D>, path: &str) -> Result<Self, LoadError> {
        Dims::load(source, path)
    }
}

/// Compares the conventions in the file, if it has them, with those of the model. A model that `is_part` of the saved
/// one may have some of the conventions, with some of their values.
pub(crate) fn compare_conventions<Model: Module>(file: &TensorFile, is_part: bool) -> Result<(), LoadError> {
    compare_with(&conventions::<Model>(), file, is_part)
}

// This function is not generic, so it is compiled once, and not for each model.
fn compare_with(expected: &BTreeMap<String, String>, file: &TensorFile, is_part: bool) -> Result<(), LoadError> {
    let Some(lines) = file.metadata().get(CONVENTIONS) else { return Ok(()) };
    let found: BTreeMap<_, _> = lines.lines().filter_map(|line| line.split_once(": ")).collect();
    let expected: BTreeMap<_, _> = expected.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    for &convention in expected.keys().chain(found.keys()) {
        // A part that has attention, but not this convention, rotates nothing. So it does not fit the file of a model
        // that rotates.
        let is_rotation = convention == ROTARY_POSITIONS && expected.contains_key(ATTENTION_SCALE);
        let (expected, found) = (expected.get(convention), found.get(convention));
        let is_alike = match (expected, found) {
            (None, _) | (_, None) if OPTIONAL_CONVENTIONS.contains(&convention) => true,
            (None, _) => is_part && !is_rotation,
            (Some(_), None) => false,
            (Some(expected), Some(found)) if is_part => {
                let found: Vec<&str> = found.split(" and ").collect();
                expected.split(" and ").all(|value| found.contains(&value))
            }
            _ => expected == found,
        };
        if !is_alike {
            let [expected, found] = [expected, found].map(|value| value.unwrap_or(&"none").to_string());
            return Err(LoadError::Convention { convention: convention.to_string(), expected, found });
        }
    }
    Ok(())
}

/// A model whose parameters, with their paths below `prefix`, have the elements that `read` returns.
pub(crate) fn load_from<Model: Loadable<E, D>, E: Dtype, D: Device<E>>(
    prefix: &str,
    device: &D,
    read: &mut ReadElements<'_, E>,
) -> Result<Model, LoadError> {
    Model::load_from(&mut TensorSource::new(device, read), prefix)
}
