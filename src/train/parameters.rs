use super::{
    elementwise::update_elements,
    parameter_tensor::{ParameterTensor, elements_in, range_in},
    sum_squares::SumSquares,
};
use crate::{
    backend::Backend,
    ops::{OpError, Real, device_error},
};
use dfdx::{
    nn::{RecursiveWalker, TensorCollection, TensorOptions, TensorVisitor, ViewTensorMut, ViewTensorName},
    shapes::{HasShape, Shape},
    tensor::{Cpu, Gradients, Tensor},
    tensor_ops::TryMul,
};
use std::{
    fmt, mem,
    ops::{Deref, Range},
};

const OP: &str = "update";

/// The name and the dimensions of a parameter.
///
/// ```
/// use typed_transformer::train::{AdamW, Parameter};
/// # use typed_transformer::{doctest::*, nn::Linear, prelude::*};
/// /// Embedding tables do not decay.
/// fn decays(parameter: &Parameter) -> bool {
///     parameter.is_matrix() && !parameter.path.contains("embedder")
/// }
/// let mut adam = AdamW::default();
/// adam.weight_decay_filter = decays;
/// # let _: AdamW<Linear<EmbedDim, VocabSize, f32, Cpu>, f32> = adam;
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Parameter {
    /// Its field path in the model, which is also its name in a file.
    pub path: String,
    /// The size of each dimension.
    pub sizes: Vec<usize>,
}

impl Parameter {
    /// Whether it has at least two dimensions: weight matrices and embedding tables do, biases and
    /// norm parameters do not.
    pub fn is_matrix(&self) -> bool {
        self.sizes.len() >= 2
    }
}

/// The trained parameters of a model and their gradients, as an [`Optimizer`](super::Optimizer) gets them.
/// [`OptimizerState::try_update`](super::OptimizerState::try_update) visits them.
///
/// ```
/// use typed_transformer::{backend::Backend, prelude::*, train::{OptimizerState, Parameters, Slot}};
/// # use dfdx::{nn::TensorCollection, tensor_ops::{TryMul, TrySub}};
/// /// Gradient descent: `θ ← θ - g / 10`.
/// fn descend<Model: TensorCollection<E, D>, E: Real, D: Backend<E>>(
///     state: &mut OptimizerState<Model, E, [Slot<E, D>; 0]>,
///     parameters: Parameters<'_, Model, E, D>,
/// ) -> Result<(), OpError> {
///     let rate = E::from_f64(0.1).unwrap();
///     state.try_update(parameters, |_, mut parameter, []| {
///         let (values, gradient) = (parameter.values()?, parameter.gradient()?);
///         parameter.set_values(values - gradient * rate)
///     })
/// }
/// ```
pub struct Parameters<'a, Model, E: Real = f32, D: Backend<E> = Cpu> {
    model: &'a mut Model,
    gradients: Gradients<E, D>,
    gradient_factor: Option<E>,
    /// The elements that an optimizer gets, counted over all trained parameters; `None` for all.
    part: Option<Range<usize>>,
}

impl<'a, Model: TensorCollection<E, D>, E: Real, D: Backend<E>> Parameters<'a, Model, E, D> {
    pub(super) fn new(model: &'a mut Model, gradients: Gradients<E, D>) -> Self {
        Self { model, gradients, gradient_factor: None, part: None }
    }

    /// `Σ g²` of each trained parameter, in the order of the fields.
    pub(super) fn sums_of_squares(&mut self) -> Result<Vec<f64>, OpError> {
        let mut squares = SumSquares { gradients: &mut self.gradients, sums: Vec::new() };
        Model::iter_tensors(&mut RecursiveWalker { m: &*self.model, f: &mut squares }).map_err(device_error(OP))?;
        Ok(squares.sums)
    }

    /// Scales all gradients. The factor is applied while a gradient is read.
    pub(super) fn scale_gradients(&mut self, factor: E) {
        self.gradient_factor = Some(factor);
    }

    /// Takes these elements, counted over all trained parameters in the order of the fields, and the gradients.
    pub(super) fn take_part(&mut self, elements: Range<usize>) -> Parameters<'_, Model, E, D> {
        Parameters {
            model: self.model,
            gradients: mem::replace(&mut self.gradients, Gradients::leaky()),
            gradient_factor: self.gradient_factor,
            part: Some(elements),
        }
    }

    /// Calls `update` with each parameter that has elements here, in the order of the fields.
    pub(super) fn try_for_each(&mut self, update: &mut Update<'_, E, D>) -> Result<(), OpError> {
        let (gradient_factor, part) = (self.gradient_factor, self.part.clone());
        let mut visit = Visit { gradients: &mut self.gradients, gradient_factor, part, start: 0, update };
        Model::iter_tensors(&mut RecursiveWalker { m: (&mut *self.model, String::new()), f: &mut visit })?;
        Ok(())
    }
}

impl<Model, E: Real, D: Backend<E>> fmt::Debug for Parameters<'_, Model, E, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Parameters")
    }
}

/// A parameter and its gradient, as an [`Optimizer`](super::Optimizer) changes it. It is a [`Parameter`] too.
///
/// All tensors are flat: elements in row-major order. If the optimizer's state is sharded over ranks, they have only
/// the elements that this rank updates.
///
/// ```
/// use typed_transformer::{backend::Backend, prelude::*, train::ParameterMut};
/// # use dfdx::tensor_ops::TryMul;
/// /// Weight decay, of matrices alone: `θ ← 0.99 θ`.
/// fn decay<E: Real, D: Backend<E>>(parameter: &mut ParameterMut<'_, E, D>) -> Result<(), OpError> {
///     if !parameter.is_matrix() {
///         return Ok(());
///     }
///     parameter.set_values(parameter.values()? * E::from_f64(0.99).unwrap())
/// }
/// ```
pub struct ParameterMut<'a, E: Real = f32, D: Backend<E> = Cpu> {
    parameter: Parameter,
    tensor: &'a mut dyn ParameterTensor<E, D>,
    gradients: &'a mut Gradients<E, D>,
    gradient_factor: Option<E>,
    /// The elements of the tensor that are updated.
    range: Range<usize>,
}

impl<E: Real, D: Backend<E>> ParameterMut<'_, E, D> {
    /// The number of elements.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// The elements.
    ///
    /// # Errors
    /// [`OpError::Device`] if the device fails.
    pub fn values(&self) -> Result<Tensor<(usize,), E, D>, OpError> {
        self.tensor.values().and_then(|values| elements_in(&self.range, values)).map_err(device_error(OP))
    }

    /// The derivative of the loss with respect to each element, after clipping.
    ///
    /// # Errors
    /// [`OpError::Device`] if the device fails.
    pub fn gradient(&mut self) -> Result<Tensor<(usize,), E, D>, OpError> {
        let gradient = self.tensor.gradient(self.gradients);
        let gradient = gradient.and_then(|gradient| elements_in(&self.range, gradient)).map_err(device_error(OP))?;
        match self.gradient_factor {
            Some(factor) => gradient.try_mul(factor).map_err(device_error(OP)),
            None => Ok(gradient),
        }
    }

    /// Replaces the elements.
    ///
    /// # Errors
    /// [`OpError::Shape`] if `values` has another number of elements; [`OpError::Device`] if the device fails.
    pub fn set_values(&mut self, values: Tensor<(usize,), E, D>) -> Result<(), OpError> {
        let (len, expected) = (values.shape().0, self.len());
        if len != expected {
            return Err(OpError::Shape { op: OP, from: format!("({len})"), to: format!("({expected})") });
        }
        self.try_set_values(values).map_err(device_error(OP))
    }

    fn try_set_values(&mut self, values: Tensor<(usize,), E, D>) -> Result<(), D::Err> {
        let whole = self.tensor.values()?;
        let shape = *whole.shape();
        if self.range == (0..shape.0) {
            return self.tensor.set_values(values);
        }
        let (device, mut elements) = (whole.device().clone(), whole.as_vec());
        elements[self.range.clone()].copy_from_slice(&values.as_vec());
        self.tensor.set_values(device.try_tensor_from_vec(elements, shape)?)
    }

    /// Zeros for a slot of this parameter.
    pub(super) fn zeros(&self) -> Result<Tensor<(usize,), E, D>, OpError> {
        self.tensor.zeros(self.len()).map_err(device_error(OP))
    }

    /// Calls `update(gradient_factor, values, gradient, slots)` once on each thread, on the elements themselves.
    /// `update` multiplies the gradient by the factor. Returns false and changes nothing if the elements are not in CPU
    /// memory.
    pub(super) fn update_in_place<const SLOTS: usize>(
        &mut self,
        slots: [&mut Tensor<(usize,), E, D>; SLOTS],
        update: impl Fn(E, &mut [E], &[E], [&mut [E]; SLOTS]) + Sync,
    ) -> Result<bool, OpError> {
        // Multiplying by 1 changes nothing.
        let factor = self.gradient_factor.unwrap_or_else(E::one);
        let elements = self.tensor.elements_mut(self.gradients).map_err(device_error(OP))?;
        let Some((values, gradient)) = elements else {
            return Ok(false);
        };
        let (values, gradient) = (&mut values[self.range.clone()], &gradient[self.range.clone()]);
        let slots = slots.map(D::elements_mut);
        if slots.iter().any(|slot| slot.as_ref().is_none_or(|slot| slot.len() != values.len())) {
            return Ok(false);
        }
        let slots = slots.map(Option::unwrap_or_default);
        update_elements(values, gradient, slots, |values, gradient, slots| update(factor, values, gradient, slots));
        Ok(true)
    }
}

impl<E: Real, D: Backend<E>> Deref for ParameterMut<'_, E, D> {
    type Target = Parameter;

    fn deref(&self) -> &Parameter {
        &self.parameter
    }
}

impl<E: Real, D: Backend<E>> fmt::Debug for ParameterMut<'_, E, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parameter.fmt(f)
    }
}

/// Changes a parameter. It is a trait object, because the visits of all submodules are compiled anew for each type of
/// function.
pub(super) type Update<'f, E, D> = dyn FnMut(ParameterMut<'_, E, D>) -> Result<(), OpError> + 'f;

/// Calls `update` with each trained parameter.
struct Visit<'a, 'f, E: Real, D: Backend<E>> {
    gradients: &'a mut Gradients<E, D>,
    gradient_factor: Option<E>,
    part: Option<Range<usize>>,
    /// The number of elements of the trained parameters before this one.
    start: usize,
    update: &'a mut Update<'f, E, D>,
}

impl<E: Real, D: Backend<E>> TensorVisitor<E, D> for Visit<'_, '_, E, D> {
    type Viewer = (ViewTensorMut, ViewTensorName);
    type Err = OpError;
    type E2 = E;
    type D2 = D;

    fn visit<S: Shape>(
        &mut self,
        options: TensorOptions<S, E, D>,
        (tensor, path): (&mut Tensor<S, E, D>, String),
    ) -> Result<Option<Tensor<S, E, D>>, OpError> {
        if !options.do_gradient_update {
            return Ok(None);
        }
        let (start, len) = (self.start, tensor.shape().num_elements());
        self.start += len;
        let range = self.part.as_ref().map_or(0..len, |part| range_in(part, start..start + len));
        // A rank may have no element of it.
        if self.part.is_none() || !range.is_empty() {
            let parameter = Parameter { path, sizes: tensor.shape().concrete().into() };
            let (gradients, gradient_factor) = (&mut *self.gradients, self.gradient_factor);
            (self.update)(ParameterMut { parameter, tensor, gradients, gradient_factor, range })?;
        }
        Ok(None)
    }
}
