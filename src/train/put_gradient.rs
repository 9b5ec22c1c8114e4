//! The gradient of a parameter, written from outside of a backward pass.

use crate::backend::Backend;
use crate::error::Real;
use crate::model_tensors::AnyTensor;
use dfdx::shapes::Rank0;
use dfdx::tensor::{Gradients, OwnedTape, Tensor};
use dfdx::tensor_ops::{Backward, Device, SumTo, TryMul};

/// Sets the gradient of a parameter that has none yet.
pub fn put_gradient<E: Real, D: Backend<E>>(
    parameter: &dyn AnyTensor<E, D>,
    mut gradients: Gradients<E, D>,
    gradient: Vec<E>,
) -> Result<Gradients<E, D>, D::Err> {
    if let Some(stored) = parameter.row_major_gradient(&mut gradients)? {
        *stored = gradient;
        return Ok(gradients);
    }
    let len = gradient.len();
    let gradient = parameter.device().try_tensor_from_vec(gradient, (len,))?;
    add_gradient(parameter.flat_with_tape(gradients)?, gradient)
}

/// Adds to the gradient of `parameter`, on every device, by the backward pass of `Σ gradient · parameter`.
pub fn add_gradient<E: Real, D: Device<E>>(
    parameter: Tensor<(usize,), E, D, OwnedTape<E, D>>,
    gradient: Tensor<(usize,), E, D>,
) -> Result<Gradients<E, D>, D::Err> {
    parameter.try_mul(gradient)?.try_sum::<Rank0, _>()?.try_backward()
}
