use super::{ExpectedTensor, LoadError};
use crate::nn::module::ParamShape;
use crate::ranks::{RankAxis, Ranks};
use dfdx::{dtypes::Dtype, tensor::Tensor, tensor_ops::Device};
use std::any::Any;

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
pub(crate) type ReadElements<'a, E> = dyn FnMut(&ExpectedTensor) -> Result<Vec<E>, LoadError> + 'a;

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
