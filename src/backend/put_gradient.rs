//! The gradient of a parameter, written by a backward pass: nothing else writes dfdx's gradients.

use crate::{dims::unnamed, error::Real};
use dfdx::shapes::{HasShape, Rank0, Shape};
use dfdx::tensor::{Gradients, OwnedTape, Tensor, Trace};
use dfdx::tensor_ops::{Backward, Device, ReshapeTo, SumTo, TryMul};

/// Adds to the gradient of `parameter` by the backward pass of `Σ gradient · parameter`.
pub(crate) fn add_gradient_by_backward_pass<E: Real, D: Device<E>>(
    parameter: Tensor<(usize,), E, D, OwnedTape<E, D>>,
    gradient: Tensor<(usize,), E, D>,
) -> Result<Gradients<E, D>, D::Err> {
    parameter.try_mul(gradient)?.try_sum::<Rank0, _>()?.try_backward()
}

/// [`Backend::put_gradient`](super::Backend::put_gradient) by [`add_gradient_by_backward_pass`].
pub(crate) fn put_gradient_by_backward_pass<S: Shape, E: Real, D: Device<E>>(
    gradients: Gradients<E, D>,
    parameter: &Tensor<S, E, D>,
    gradient: Vec<E>,
) -> Result<Gradients<E, D>, D::Err> {
    let gradient = parameter.device().try_tensor_from_vec(gradient, (parameter.shape().num_elements(),))?;
    let parameter = unnamed(parameter.trace(gradients)).try_reshape_like(gradient.shape())?;
    add_gradient_by_backward_pass(parameter, gradient)
}
