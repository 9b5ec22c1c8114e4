//! A parameter with its gradient, and loops over its elements, divided among threads.

use super::Parameter;
use crate::backend::{Backend, Gradients, elements_of, num_threads, parallel_map};
use crate::model_tensors::AnyTensor;
use crate::ops::{OpError, Real, device_error};
use dfdx::tensor::{Cpu, Tensor};
use dfdx::{shapes::HasShape, tensor_ops::TryMul};
use std::ops::{Deref, Range};

const OP: &str = "update";

/// A parameter and its gradient, as an [`Optimizer`](super::Optimizer) changes it. It is a [`Parameter`] too.
///
/// All tensors are flat: elements in row-major order, over a `usize`, which is no dimension. So dfdx's operators add
/// and multiply them. If the optimizer's state is sharded over ranks, they have only the elements that this rank updates.
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
///
/// dims! { pub Rows; pub Columns; }
/// /// The gradient of a matrix that is not sharded, as Muon needs it.
/// fn matrix<E: Real, D: Backend<E>>(
///     parameter: &mut ParameterMut<'_, E, D>,
/// ) -> Result<Tensor<(Rows, Columns), E, D>, OpError> {
///     let gradient = parameter.gradient()?;
///     let shape = (Rows::new(parameter.sizes[0]), Columns::new(parameter.sizes[1]));
///     tensor(gradient.device(), gradient.as_vec(), shape)
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

    /// Calls `update(gradient_factor, values, gradient, slots)` once on each thread, with the thread's part of the
    /// elements: a loop over them takes a fraction of the time of operations on tensors. `update` must multiply the
    /// gradient by the factor. Returns false and changes nothing if the elements are not in CPU memory: then compute
    /// with [`values`](Self::values) and [`gradient`](Self::gradient).
    ///
    /// # Errors
    /// [`OpError::Shape`] if a slot has another number of elements; [`OpError::Device`] if the device fails.
    ///
    /// ```
    /// use typed_transformer::{backend::Backend, prelude::*, train::ParameterMut};
    /// /// `v ← 0.9 v + g`, then `θ ← θ - rate · v`.
    /// fn step<E: Real, D: Backend<E>>(
    ///     mut parameter: ParameterMut<'_, E, D>,
    ///     velocity: &mut Tensor<(usize,), E, D>,
    ///     rate: E,
    /// ) -> Result<(), OpError> {
    ///     let decay = E::from_f64(0.9).unwrap();
    ///     let is_done = parameter.update_in_place([&mut *velocity], |factor, values, gradient, [velocity]| {
    ///         for ((value, gradient), velocity) in values.iter_mut().zip(gradient).zip(velocity) {
    ///             *velocity = *velocity * decay + *gradient * factor;
    ///             *value = *value - *velocity * rate;
    ///         }
    ///     })?;
    ///     if is_done {
    ///         return Ok(());
    ///     }
    ///     *velocity = velocity.clone() * decay + parameter.gradient()?;
    ///     parameter.set_values(parameter.values()? - velocity.clone() * rate)
    /// }
    /// ```
    pub fn update_in_place<const SLOTS: usize>(
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
        if slots.iter().any(Option::is_none) {
            return Ok(false);
        }
        let slots = slots.map(Option::unwrap_or_default);
        if let Some(slot) = slots.iter().find(|slot| slot.len() != values.len()) {
            let [from, to] = [slot.len(), values.len()].map(|len| format!("({len})"));
            return Err(OpError::Shape { op: OP, from, to });
        }
        update_elements(values, gradient, slots, &|values, gradient, slots| update(factor, values, gradient, slots));
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

/// Below this many elements, one thread is faster.
const MIN_PARALLEL_LEN: usize = 1 << 15;

/// Calls `update` once on each thread, with the values, the gradient and the slots of the thread's part of the
/// elements.
pub(super) fn update_elements<E: Real, const SLOTS: usize>(
    values: &mut [E],
    gradient: &[E],
    slots: [&mut [E]; SLOTS],
    update: &(dyn Fn(&mut [E], &[E], [&mut [E]; SLOTS]) + Sync),
) {
    if values.len() < MIN_PARALLEL_LEN {
        return update(values, gradient, slots);
    }
    let part_len = values.len().div_ceil(num_threads());
    let mut slots = slots.map(|slot| slot.chunks_mut(part_len));
    let parts = values.chunks_mut(part_len).zip(gradient.chunks(part_len));
    let parts = parts.map(|(values, gradient)| {
        let slots = slots.each_mut().map(|slot| slot.next().unwrap_or_default());
        (values, gradient, slots)
    });
    parallel_map(parts.collect(), |(values, gradient, slots)| update(values, gradient, slots));
}

/// `Σ x²`, in `f64`. It does not depend on the number of threads.
pub(super) fn sum_of_squares<E: Real, D: Backend<E>>(elements: &[E]) -> f64 {
    /// The elements that one thread sums at a time.
    const CHUNK_LEN: usize = 1 << 16;
    let sum = |chunks: &[E]| chunks.chunks(CHUNK_LEN).map(D::slice_sum_of_squares).collect::<Vec<_>>();
    let threads = if elements.len() < MIN_PARALLEL_LEN { 1 } else { num_threads() };
    let part_len = elements.len().div_ceil(threads).next_multiple_of(CHUNK_LEN).max(CHUNK_LEN);
    parallel_map(elements.chunks(part_len).collect(), sum).into_iter().flatten().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::ThreadPoolBuilder;

    fn numbers(len: usize, seed: usize) -> Vec<f64> {
        (0..len).map(|i| ((i + seed) * 7919 % 1013) as f64 - 500.0).collect()
    }

    #[test]
    fn every_element_is_updated_once() {
        for len in [0, 1, 7, MIN_PARALLEL_LEN - 1, MIN_PARALLEL_LEN, MIN_PARALLEL_LEN + 1, 300_001] {
            let (mut values, gradient, mut slot) = (numbers(len, 1), numbers(len, 2), numbers(len, 3));
            let expected: Vec<f64> = (0..len).map(|i| values[i] + gradient[i] * slot[i]).collect();
            update_elements(&mut values, &gradient, [&mut slot], &|values, gradient, [slot]| {
                for ((value, gradient), slot) in values.iter_mut().zip(gradient).zip(slot) {
                    *value += gradient * *slot;
                    *slot = 1.0;
                }
            });
            assert_eq!(values, expected);
            assert_eq!(slot, vec![1.0; len]);
        }
    }

    #[test]
    fn a_sum_of_squares_does_not_depend_on_the_number_of_threads() {
        for len in [0, 1, 15, 1_000, 65_536, 65_537, 400_003] {
            let elements: Vec<f32> = numbers(len, 1).iter().map(|x| *x as f32 * 0.01).collect();
            let expected: f64 = elements.iter().map(|x| f64::from(*x).powi(2)).sum();
            let sums = [1, 2, 3, 5].map(|threads| {
                let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| sum_of_squares::<f32, Cpu>(&elements))
            });
            assert_eq!(sums, [sums[0]; 4]);
            assert!((sums[0] - expected).abs() <= 1e-12 * expected);
        }
    }
}
