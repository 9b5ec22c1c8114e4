//! The gradient of a parameter, written from outside of a backward pass.

use crate::backend::{Backend, Gradients};
use crate::error::Real;
use crate::model_tensors::AnyTensor;
use dfdx::shapes::Rank0;
use dfdx::tensor::{Gradients as OfDfdx, Tensor};
use dfdx::tensor_ops::{Backward, Device, SumTo, TryMul};
use std::mem;

/// Sets the gradient of a parameter that has none yet.
pub fn put_gradient<E: Real, D: Backend<E>>(
    parameter: &dyn AnyTensor<E, D>,
    gradients: &mut Gradients<E, D>,
    gradient: Vec<E>,
) -> Result<(), D::Err> {
    if let Some(stored) = parameter.row_major_gradient(gradients)? {
        stored.copy_from_slice(&gradient);
        return Ok(());
    }
    let len = gradient.len();
    add_gradient(parameter, gradients, parameter.device().try_tensor_from_vec(gradient, (len,))?)
}

/// Adds to the gradient of `parameter`, on every device, by the backward pass of `Σ gradient · parameter`.
pub fn add_gradient<E: Real, D: Device<E>>(
    parameter: &dyn AnyTensor<E, D>,
    gradients: &mut Gradients<E, D>,
    gradient: Tensor<(usize,), E, D>,
) -> Result<(), D::Err> {
    let gradients = gradients.for_dfdx()?;
    let parameter = parameter.flat_with_tape(mem::replace(gradients, OfDfdx::leaky()))?;
    *gradients = parameter.try_mul(gradient)?.try_sum::<Rank0, _>()?.try_backward()?;
    Ok(())
}
