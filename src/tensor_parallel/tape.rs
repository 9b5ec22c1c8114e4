//! Collective operations on a tape.

use crate::backend::{Tape, elements_of};
use crate::ops::{OpError, Real};
use crate::ranks::{RankAxis, Ranks, RanksError, failure};
use dfdx::shapes::{HasShape, Shape};
use dfdx::tensor::{PutTape, SplitTape, Tensor};
use dfdx::tensor_ops::{Device, ReshapeTo};
use rand::{Rng, distributions::Distribution};
use std::{cell::RefCell, vec::IntoIter};

/// Runs `forward` on the elements of `input`, in row-major order, and records `backward`, which makes the gradient of
/// the input from that of the output.
///
/// A backward pass cannot return the error of a collective operation. [`failure`] keeps it, and the rest of the pass
/// skips communication.
pub(super) fn record<From: Shape, To: Shape, E: Real, D: Device<E>, T: Tape<E, D>, Axis: RankAxis>(
    op: &'static str,
    ranks: &Ranks<Axis>,
    input: Tensor<From, E, D, T>,
    shape: To,
    forward: impl FnOnce(&Ranks<Axis>, Vec<E>) -> Result<Vec<E>, RanksError>,
    backward: impl FnOnce(&Ranks<Axis>, Vec<E>) -> Result<Vec<E>, RanksError> + 'static,
) -> Result<Tensor<To, E, D, T>, OpError> {
    let ranks_error = |source| OpError::Ranks { op, source };
    let device_error = |error: D::Err| OpError::Device { op, message: error.to_string() };
    failure::report().map_err(ranks_error)?;
    let len = input.shape().num_elements();
    // This shares the storage of a contiguous tensor, and copies any other, so that a gradient is in the same order.
    let (input, mut tape) = input.try_reshape_like(&(len,)).map_err(device_error)?.split_tape();
    let output = forward(ranks, elements_of(&input)).map_err(ranks_error)?;
    let output = input.device().try_tensor_from_vec(output, shape).map_err(device_error)?;
    if T::OWNS_TAPE {
        let (input, output, device, ranks) = (input.ghost(), output.ghost(), input.device().clone(), ranks.clone());
        tape.add_backward_op(move |gradients| {
            if failure::has_failed() {
                return Ok(());
            }
            gradients.try_alloc_for(&input)?;
            gradients.try_alloc_for(&output)?;
            match backward(&ranks, elements_of(&gradients.get(&output))) {
                Ok(part) => {
                    let so_far = elements_of(&gradients.get(&input));
                    let sum = so_far.into_iter().zip(part).map(|(so_far, part)| so_far + part).collect();
                    device.try_fill_with_distr(gradients.get_or_alloc_mut(&input)?, Successive::new(sum))
                }
                Err(error) => {
                    failure::put_aside(error);
                    Ok(())
                }
            }
        });
    }
    Ok(output.put_tape(tape))
}

/// Numbers that are drawn in their order: filling with random numbers is dfdx's only way to write a gradient on every
/// device.
struct Successive<E>(RefCell<IntoIter<E>>);

impl<E> Successive<E> {
    fn new(numbers: Vec<E>) -> Self {
        Self(RefCell::new(numbers.into_iter()))
    }
}

impl<E: Real> Distribution<E> for Successive<E> {
    fn sample<R: Rng + ?Sized>(&self, _: &mut R) -> E {
        self.0.borrow_mut().next().unwrap_or_else(E::nan)
    }
}
