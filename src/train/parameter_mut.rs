use super::Parameter;
use super::elementwise::update_elements;
use crate::backend::{Backend, Gradients, elements_of};
use crate::model_tensors::AnyTensor;
use crate::ops::{OpError, Real, device_error};
use dfdx::tensor::{Cpu, Tensor};
use dfdx::{shapes::HasShape, tensor_ops::TryMul};
use std::ops::{Deref, Range};

const OP: &str = "update";

/// A parameter and its gradient, as an [`Optimizer`](super::Optimizer) changes it. It is a [`Parameter`] too.
///
/// All tensors are flat: elements in row-major order. If the optimizer's state is sharded over ranks, they have only
/// the elements that this rank updates.
///
/// ```
/// use typed_transformer::{backend::Backend, prelude::*, train::ParameterMut};
/// /// Weight decay, of matrices alone: `θ ← 0.99 θ`.
/// fn decay<E: Real, D: Backend<E>>(parameter: &mut ParameterMut<'_, E, D>) -> Result<(), OpError> {
///     if !parameter.is_matrix() {
///         return Ok(());
///     }
///     parameter.set_values(parameter.values()? * E::from_f64(0.99).unwrap())
/// }
/// ```
pub struct ParameterMut<'a, E: Real = f32, D: Backend<E> = Cpu> {
    pub(super) parameter: Parameter,
    pub(super) tensor: &'a mut dyn AnyTensor<E, D>,
    pub(super) gradients: &'a mut Gradients<E, D>,
    pub(super) gradient_factor: Option<E>,
    pub(super) rate_factor: f64,
    /// The elements of the tensor that are updated.
    pub(super) range: Range<usize>,
}

impl<E: Real, D: Backend<E>> ParameterMut<'_, E, D> {
    /// The number of elements.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// The [factor of the learning rate](super::Optimizer::rate_factor) for this parameter. An optimizer multiplies by
    /// it.
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
        if self.len() == self.tensor.num_elements() {
            return self.tensor.set_from_flat(values);
        }
        let mut elements = self.tensor.to_vec();
        elements[self.range.clone()].copy_from_slice(&elements_of(&values));
        self.tensor.set_from_vec(elements)
    }

    /// Zeros for a slot of this parameter.
    pub(super) fn zeros(&self) -> Result<Tensor<(usize,), E, D>, OpError> {
        let mut zeros = self.tensor.device().try_zeros_like(&(self.len(),)).map_err(device_error(OP))?;
        if let Some(elements) = D::elements_mut(&mut zeros) {
            typed_transformer_cpu::prefer_huge_pages(elements, false);
            // A page that the first update reads before it writes to it would be mapped twice, and the second time
            // interrupts all threads.
            elements.fill(E::zero());
        }
        Ok(zeros)
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
        let elements = self.tensor.elements_and_gradient(self.gradients).map_err(device_error(OP))?;
        let Some((values, gradient)) = elements else { return Ok(false) };
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

/// The elements of a flat tensor in a range.
fn elements_in<E: Real, D: Backend<E>>(
    range: &Range<usize>,
    tensor: Tensor<(usize,), E, D>,
) -> Result<Tensor<(usize,), E, D>, D::Err> {
    if *range == (0..tensor.shape().0) { Ok(tensor) } else { tensor.try_slice((range.clone(),)) }
}

impl<E: Real, D: Backend<E>> Deref for ParameterMut<'_, E, D> {
    type Target = Parameter;

    fn deref(&self) -> &Parameter {
        &self.parameter
    }
}

crate::error::debug_as!([E: Real, D: Backend<E>] ParameterMut<'_, E, D>, |this, f| this.parameter.fmt(f));
