use super::elementwise::{sum_of_squares, update_elements};
use crate::{
    backend::Backend,
    ops::{OpError, Real, device_error},
};
use dfdx::{
    nn::{
        RecursiveWalker, TensorCollection, TensorOptions, TensorVisitor, ViewTensorMut, ViewTensorName, ViewTensorRef,
    },
    shapes::{HasShape, Shape},
    tensor::{Gradients, Tensor},
    tensor_ops::{ReshapeTo, TryMul},
};
use std::{fmt, ops::Deref};

const OP: &str = "update";

/// The name and the dimensions of a parameter.
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
pub struct Parameters<'a, Model, E: Real, D: Backend<E>> {
    model: &'a mut Model,
    gradients: Gradients<E, D>,
    gradient_factor: Option<E>,
}

impl<'a, Model: TensorCollection<E, D>, E: Real, D: Backend<E>> Parameters<'a, Model, E, D> {
    pub(super) fn new(model: &'a mut Model, gradients: Gradients<E, D>) -> Self {
        Self { model, gradients, gradient_factor: None }
    }

    /// `Σ g²` over all trained parameters.
    pub(super) fn sum_of_squares(&mut self) -> Result<f64, OpError> {
        let mut sum = SumSquares { gradients: &mut self.gradients, sum: 0.0, count: 0 };
        Model::iter_tensors(&mut RecursiveWalker { m: &*self.model, f: &mut sum }).map_err(device_error(OP))?;
        Ok(sum.sum)
    }

    /// Scales all gradients. The factor is applied while a gradient is read.
    pub(super) fn scale_gradients(&mut self, factor: E) {
        self.gradient_factor = Some(factor);
    }

    /// Calls `update` with each parameter, in the order of the fields.
    pub(super) fn try_for_each(&mut self, update: &mut Update<'_, E, D>) -> Result<(), OpError> {
        let mut visit = Visit { gradients: &mut self.gradients, gradient_factor: self.gradient_factor, update };
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
/// All tensors are flat: elements in row-major order.
pub struct ParameterMut<'a, E: Real, D: Backend<E>> {
    parameter: Parameter,
    tensor: &'a mut dyn ParameterTensor<E, D>,
    gradients: &'a mut Gradients<E, D>,
    gradient_factor: Option<E>,
}

impl<E: Real, D: Backend<E>> ParameterMut<'_, E, D> {
    /// The number of elements.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.parameter.sizes.iter().product()
    }

    /// The elements.
    ///
    /// # Errors
    /// [`OpError::Device`] if the device fails.
    pub fn values(&self) -> Result<Tensor<(usize,), E, D>, OpError> {
        self.tensor.values().map_err(device_error(OP))
    }

    /// The derivative of the loss with respect to each element, after clipping.
    ///
    /// # Errors
    /// [`OpError::Device`] if the device fails.
    pub fn gradient(&mut self) -> Result<Tensor<(usize,), E, D>, OpError> {
        let gradient = self.tensor.gradient(self.gradients).map_err(device_error(OP))?;
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
        self.tensor.set_values(values).map_err(device_error(OP))
    }

    /// Zeros for a slot of this parameter.
    pub(super) fn zeros(&self) -> Result<Tensor<(usize,), E, D>, OpError> {
        self.tensor.zeros().map_err(device_error(OP))
    }

    /// Calls `update` with the elements of the values, the gradient and the slots where they lie, once on each
    /// thread. The gradient is to be multiplied by the number that `update` gets first. Returns false, and does
    /// nothing, if the elements do not lie in the memory of this process.
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

/// The tensor of a parameter, whatever its dimensions.
trait ParameterTensor<E: Real, D: Backend<E>> {
    fn values(&self) -> Result<Tensor<(usize,), E, D>, D::Err>;
    fn set_values(&mut self, values: Tensor<(usize,), E, D>) -> Result<(), D::Err>;
    fn zeros(&self) -> Result<Tensor<(usize,), E, D>, D::Err>;
    fn gradient(&self, gradients: &mut Gradients<E, D>) -> Result<Tensor<(usize,), E, D>, D::Err>;
    /// The elements of the values and of the gradient, if they lie in the memory of this process in one order.
    fn elements_mut<'a>(
        &'a mut self,
        gradients: &'a mut Gradients<E, D>,
    ) -> Result<Option<(&'a mut [E], &'a [E])>, D::Err>;
}

impl<Dims: Shape, E: Real, D: Backend<E>> ParameterTensor<E, D> for Tensor<Dims, E, D> {
    fn values(&self) -> Result<Tensor<(usize,), E, D>, D::Err> {
        self.clone().try_reshape_like(&(self.shape().num_elements(),))
    }

    fn set_values(&mut self, values: Tensor<(usize,), E, D>) -> Result<(), D::Err> {
        *self = values.try_reshape_like(self.shape())?;
        Ok(())
    }

    fn zeros(&self) -> Result<Tensor<(usize,), E, D>, D::Err> {
        self.device().try_zeros_like(&(self.shape().num_elements(),))
    }

    fn gradient(&self, gradients: &mut Gradients<E, D>) -> Result<Tensor<(usize,), E, D>, D::Err> {
        gradients.try_alloc_for(self)?;
        gradients.get(self).try_reshape_like(&(self.shape().num_elements(),))
    }

    fn elements_mut<'a>(
        &'a mut self,
        gradients: &'a mut Gradients<E, D>,
    ) -> Result<Option<(&'a mut [E], &'a [E])>, D::Err> {
        let gradient = gradients.get_or_alloc_mut(self)?;
        let elements = D::elements_mut(self).zip(D::gradient_mut(gradient));
        Ok(elements
            .filter(|(values, gradient)| values.len() == gradient.len())
            .map(|(values, gradient)| (values, &*gradient)))
    }
}

/// Adds up the squares of the gradients.
struct SumSquares<'a, E: Real, D: Backend<E>> {
    gradients: &'a mut Gradients<E, D>,
    sum: f64,
    /// How many parameters were read so far.
    count: usize,
}

impl<E: Real, D: Backend<E>> TensorVisitor<E, D> for SumSquares<'_, E, D> {
    type Viewer = ViewTensorRef;
    type Err = D::Err;
    type E2 = E;
    type D2 = D;

    fn visit<S: Shape>(
        &mut self,
        options: TensorOptions<S, E, D>,
        tensor: &Tensor<S, E, D>,
    ) -> Result<Option<Tensor<S, E, D>>, D::Err> {
        if !options.do_gradient_update {
            return Ok(None);
        }
        if self.count == 0 {
            tensor.device().try_enable_cache()?;
        }
        self.count += 1;
        self.sum += match D::gradient_mut(self.gradients.get_or_alloc_mut(tensor)?) {
            Some(gradient) => sum_of_squares(gradient),
            None => D::try_sum_of_squares(tensor.gradient(self.gradients)?)?,
        };
        Ok(None)
    }
}

/// Changes a parameter. It is a trait object, because the visits of all submodules are compiled anew for each type of
/// function.
pub(super) type Update<'f, E, D> = dyn FnMut(ParameterMut<'_, E, D>) -> Result<(), OpError> + 'f;

/// Calls `update` with each trained parameter.
struct Visit<'a, 'f, E: Real, D: Backend<E>> {
    gradients: &'a mut Gradients<E, D>,
    gradient_factor: Option<E>,
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
        if options.do_gradient_update {
            let parameter = Parameter { path, sizes: tensor.shape().concrete().into() };
            let (gradients, gradient_factor) = (&mut *self.gradients, self.gradient_factor);
            (self.update)(ParameterMut { parameter, tensor, gradients, gradient_factor })?;
        }
        Ok(None)
    }
}
