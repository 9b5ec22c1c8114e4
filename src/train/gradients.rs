use super::{Recording, recording::Address};
use crate::{
    backend::{SharedTape, tensor_id},
    ops::{OpError, Real, device_error},
};
use dfdx::{
    nn::{TensorCollection, ZeroGrads},
    shapes::{HasShape, Shape},
    tensor::{Cpu, Gradients, Storage, Tensor, UniqueId},
    tensor_ops::Device,
};
use std::{collections::HashSet, fmt, ptr};

/// The gradients of the parameters of a `Model`: what [`update`](super::update) takes.
///
/// The gradients of another type of model, of another element type or of another device do not compile in
/// the place of these.
///
/// ```
/// # use dfdx::tensor_ops::SumTo;
/// use typed_transformer::{doctest::*, nn::Linear, prelude::*, train::{GradientsOf, Sgd, update}};
/// type Layer = Linear<EmbedDim, VocabSize, f32, Cpu>;
/// let mut model = Layer::build(&Cpu::default());
/// let gradients: GradientsOf<Layer, f32, Cpu> = model.bias.clone().put_tape(model.recording()).sum().backward()?;
/// let norm = update(&mut model, gradients, &mut Sgd::default(), 0.1, f64::INFINITY)?;
/// // The gradient of each of the 28 biases is 1.
/// assert!((norm - 28f64.sqrt()).abs() < 1e-6);
/// # Ok::<(), OpError>(())
/// ```
pub struct GradientsOf<Model, E = f32, D: Storage<E> = Cpu> {
    pub(super) gradients: Gradients<E, D>,
    /// The tensors between operations, whose gradients are not kept.
    taken: HashSet<UniqueId>,
    model: Address<Model>,
}

impl<Model, E: Real, D: Device<E>> GradientsOf<Model, E, D> {
    /// Zeros for all parameters of a model, to which [`accumulate_gradients`](super::accumulate_gradients)
    /// and [`master_gradients`](super::master_gradients) add. They hold the model's parameters only, so a
    /// backward pass keeps no other gradients.
    ///
    /// # Errors
    /// [`OpError::Device`] if the device fails.
    ///
    /// ```
    /// use typed_transformer::{doctest::*, nn::Linear, prelude::*, train::GradientsOf};
    /// let model = Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&Cpu::default());
    /// assert_eq!(GradientsOf::zeros(&model)?.of(&model.bias)?.as_vec(), [0.0; 28]);
    /// # Ok::<(), OpError>(())
    /// ```
    pub fn zeros(model: &Model) -> Result<Self, OpError>
    where
        Model: TensorCollection<E, D>,
    {
        let gradients = model.try_alloc_grads().map_err(device_error("zeros"))?;
        Ok(Self { gradients, taken: HashSet::new(), model: Address::of(model) })
    }

    /// Gradients that dfdx computed on a tape of its own. Nothing checks that they are those of a `Model`.
    #[must_use]
    pub fn unchecked(gradients: Gradients<E, D>) -> Self {
        Self { gradients, taken: HashSet::new(), model: Address::UNKNOWN }
    }

    /// The gradient of a parameter or of an input of the pass; zero if it does not affect the loss.
    ///
    /// # Errors
    /// [`OpError::NoGradient`] for a tensor that an operation of the pass made; [`OpError::Device`] if the device fails.
    ///
    /// ```
    /// use typed_transformer::{doctest::*, nn::Linear, prelude::*};
    /// let model = Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&Cpu::default());
    /// # use dfdx::tensor_ops::SumTo;
    /// let mut gradients = model.bias.clone().put_tape(model.recording()).sum().backward()?;
    /// assert_eq!(gradients.of(&model.bias)?.as_vec(), [1.0; 28]);
    /// assert_eq!(gradients.of(&model.weight)?.as_vec(), [0.0; 8 * 28]);
    /// # Ok::<(), OpError>(())
    /// ```
    pub fn of<Dims: Shape>(&mut self, parameter: &Tensor<Dims, E, D>) -> Result<Tensor<Dims, E, D>, OpError> {
        if self.taken.contains(&tensor_id(parameter)) {
            return Err(OpError::NoGradient { dims: format!("{:?}", parameter.shape()) });
        }
        self.gradients.try_alloc_for(parameter).map_err(device_error("gradient"))?;
        Ok(self.gradients.get(parameter))
    }

    /// Whether the gradients were recorded for a model at another address: another model, or this one before it was moved.
    pub(super) fn belong_to_other(&self, model: &Model) -> bool {
        self.model.address.is_some_and(|address| address != ptr::from_ref(model).addr())
    }
}

impl<Model, E, D: Storage<E>> GradientsOf<Model, E, D> {
    pub(super) fn new(gradients: Gradients<E, D>, taken: HashSet<UniqueId>, model: Address<Model>) -> Self {
        Self { gradients, taken, model }
    }

    /// A tape whose backward pass adds to these gradients.
    pub(super) fn into_recording(self) -> Recording<Model, E, D> {
        Recording { tape: SharedTape::adding_to(self.gradients), model: self.model }
    }
}

impl<Model, E, D: Storage<E>> fmt::Debug for GradientsOf<Model, E, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GradientsOf")
    }
}
