use super::elementwise::{sum_of_squares, update_elements};
use super::hyperparameters::ensure_non_negative;
use super::parts::{elements_in, range_in};
use crate::backend::Backend;
use crate::model_tensors::{AnyTensor, visit_tensors, visit_tensors_mut};
use crate::ops::{OpError, Real, device_error};
use dfdx::nn::TensorCollection;
use dfdx::shapes::HasShape;
use dfdx::tensor::{Cpu, Gradients, Tensor, UniqueId};
use dfdx::tensor_ops::TryMul;
use std::ops::{Deref, Range};
use std::{fmt, mem};

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

/// `Σ g²` of a parameter.
pub(crate) struct SumOfSquares {
    /// The parameter's field path.
    pub path: String,
    pub id: UniqueId,
    /// Whether it has no elements here.
    pub is_empty: bool,
    /// The name of the type of its dimensions, with paths.
    pub dims_type_name: &'static str,
    pub sum: f64,
}

/// The trained parameters of a model and their gradients, as an [`Optimizer`](super::Optimizer) gets them.
/// [`OptimizerState::update`](super::OptimizerState::update) visits them.
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
///     state.update(parameters, |_, mut parameter, []| {
///         let (values, gradient) = (parameter.values()?, parameter.gradient()?);
///         parameter.set_values(values - gradient * rate)
///     })
/// }
/// ```
pub struct Parameters<'a, Model, E: Real = f32, D: Backend<E> = Cpu> {
    model: &'a mut Model,
    gradients: Gradients<E, D>,
    gradient_factor: Option<E>,
    /// The factor of the learning rate for each trained parameter, in the order of the fields; none for 1.
    rate_factors: Vec<f64>,
    /// The elements that the optimizer updates: a range of the elements of all trained parameters, one parameter after
    /// the other. `None` for all elements.
    part: Option<Range<usize>>,
}

impl<'a, Model: TensorCollection<E, D>, E: Real, D: Backend<E>> Parameters<'a, Model, E, D> {
    pub(super) fn new(model: &'a mut Model, gradients: Gradients<E, D>) -> Self {
        Self { model, gradients, gradient_factor: None, rate_factors: Vec::new(), part: None }
    }

    /// Sets the factor of the learning rate for each parameter.
    pub(super) fn set_rate_factors(&mut self, rate_factor: impl Fn(&Parameter) -> f64) -> Result<(), OpError> {
        visit_tensors::<_, E, D, OpError>(&*self.model, "", |visited| {
            if visited.is_trained {
                let parameter = Parameter { path: visited.path, sizes: visited.tensor.sizes() };
                let factor = rate_factor(&parameter);
                ensure_non_negative("the factor of a learning rate", factor)?;
                self.rate_factors.push(factor);
            }
            Ok(())
        })
    }

    /// `Σ g²` of each trained parameter that is not frozen, in the order of the fields.
    pub(super) fn sums_of_squares(&mut self) -> Result<Vec<SumOfSquares>, OpError> {
        let (gradients, mut sums) = (&mut self.gradients, Vec::new());
        let mut rate_factors = self.rate_factors.iter().copied();
        visit_tensors::<_, E, D, D::Err>(&*self.model, "", |visited| {
            if !visited.is_trained {
                return Ok(());
            }
            if rate_factors.next() == Some(0.0) {
                return Ok(());
            }
            if sums.is_empty() {
                visited.tensor.device().try_enable_cache()?;
            }
            let sum = match D::gradient_mut(visited.tensor.stored_gradient(gradients)?) {
                Some(gradient) => sum_of_squares::<E, D>(gradient),
                None => D::sum_of_squares(visited.tensor.flat_gradient(gradients)?)?,
            };
            sums.push(SumOfSquares {
                path: visited.path,
                id: visited.tensor.id(),
                is_empty: visited.tensor.num_elements() == 0,
                dims_type_name: visited.tensor.dims_type_name(),
                sum,
            });
            Ok(())
        })
        .map_err(device_error(OP))?;
        Ok(sums)
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
            rate_factors: self.rate_factors.clone(),
            part: Some(elements),
        }
    }

    /// Calls `update` with each parameter that has elements here, in the order of the fields.
    pub(super) fn for_each(&mut self, update: &mut Update<'_, E, D>) -> Result<(), OpError> {
        let Self { model, gradients, gradient_factor, rate_factors, part } = self;
        let mut rate_factors = rate_factors.iter().copied();
        // The number of elements of the trained parameters before this one.
        let mut start = 0;
        visit_tensors_mut(&mut **model, |visited| {
            if !visited.is_trained {
                return Ok(());
            }
            let rate_factor = rate_factors.next().unwrap_or(1.0);
            let sizes = visited.tensor.sizes();
            let len: usize = sizes.iter().product();
            let range = part.as_ref().map_or(0..len, |part| range_in(part, start..start + len));
            start += len;
            // A rank may have no element of it.
            if part.is_some() && range.is_empty() {
                return Ok(());
            }
            let parameter = Parameter { path: visited.path, sizes };
            let (tensor, gradient_factor) = (visited.tensor, *gradient_factor);
            update(ParameterMut { parameter, tensor, gradients, gradient_factor, rate_factor, range })
        })
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
    tensor: &'a mut dyn AnyTensor<E, D>,
    gradients: &'a mut Gradients<E, D>,
    gradient_factor: Option<E>,
    rate_factor: f64,
    /// The elements of the tensor that are updated.
    range: Range<usize>,
}

impl<E: Real, D: Backend<E>> ParameterMut<'_, E, D> {
    /// The number of elements.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// The [factor of the learning rate](super::Optimizer::rate_factor) for this parameter. An optimizer multiplies by it.
    pub fn rate_factor(&self) -> f64 {
        self.rate_factor
    }

    /// The elements.
    pub fn values(&self) -> Result<Tensor<(usize,), E, D>, OpError> {
        self.tensor.flat().and_then(|values| elements_in(&self.range, values)).map_err(device_error(OP))
    }

    /// The derivative of the loss with respect to each element, after clipping.
    pub fn gradient(&mut self) -> Result<Tensor<(usize,), E, D>, OpError> {
        let gradient = self.tensor.flat_gradient(self.gradients);
        let gradient = gradient.and_then(|gradient| elements_in(&self.range, gradient)).map_err(device_error(OP))?;
        match self.gradient_factor {
            Some(factor) => gradient.try_mul(factor).map_err(device_error(OP)),
            None => Ok(gradient),
        }
    }

    /// Replaces the elements.
    ///
    /// # Errors
    /// [`OpError::Shape`] if `values` has another number of elements.
    pub fn set_values(&mut self, values: Tensor<(usize,), E, D>) -> Result<(), OpError> {
        let (len, expected) = (values.shape().0, self.len());
        if len != expected {
            return Err(OpError::Shape { op: OP, from: format!("({len})"), to: format!("({expected})") });
        }
        self.write(values).map_err(device_error(OP))
    }

    fn write(&mut self, values: Tensor<(usize,), E, D>) -> Result<(), D::Err> {
        let whole = self.tensor.flat()?;
        let shape = *whole.shape();
        if self.range == (0..shape.0) {
            return self.tensor.set_from_flat(values);
        }
        let (device, mut elements) = (whole.device().clone(), whole.as_vec());
        elements[self.range.clone()].copy_from_slice(&values.as_vec());
        self.tensor.set_from_flat(device.try_tensor_from_vec(elements, shape)?)
    }

    /// Zeros for a slot of this parameter.
    pub(super) fn zeros(&self) -> Result<Tensor<(usize,), E, D>, OpError> {
        self.tensor.device().try_zeros_like(&(self.len(),)).map_err(device_error(OP))
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

/// Changes a parameter.
pub(super) type Update<'f, E, D> = dyn FnMut(ParameterMut<'_, E, D>) -> Result<(), OpError> + 'f;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{dims, ranks, ranks::Shard};
    use dfdx::tensor::ZerosTensor;

    dims! { Width = 4; }
    ranks! { Tp = 2; }

    #[test]
    fn new_values_keep_the_whole_size_of_a_shard() {
        let mut part: Tensor<(Shard<Width, Tp>,), f32, Cpu> = Cpu::default().zeros();
        let mut parameters = Parameters::new(&mut part, Gradients::leaky());
        parameters.for_each(&mut |mut parameter| parameter.set_values(parameter.values()?)).unwrap();
        assert_eq!(part.shape().0.whole_size(), Some(4));
    }
}
