use super::{OpError, Real, failed, or_panic, real};
use dfdx::{
    shapes::Shape,
    tensor::{Tape, Tensor},
    tensor_ops::{Device, TryMul},
};

/// `factor · x`; any shape to the same shape.
///
/// # Panics
/// If the device fails; [`try_scale`] returns the error.
///
/// ```
/// use typed_transformer::{ops::scale, prelude::*};
/// let x: Tensor<(Const<2>,), f32, Cpu> = Cpu::default().tensor([1.0, 2.0]);
/// assert_eq!(scale(x, 1.5).array(), [1.5, 3.0]);
/// ```
#[track_caller]
#[must_use]
pub fn scale<Dims: Shape, E: Real, D: Device<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    factor: f64,
) -> Tensor<Dims, E, D, T> {
    or_panic(try_scale(input, factor))
}

/// Fallible [`scale`].
///
/// # Errors
/// [`OpError::Device`] if the device fails.
pub fn try_scale<Dims: Shape, E: Real, D: Device<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    factor: f64,
) -> Result<Tensor<Dims, E, D, T>, OpError> {
    input.try_mul(real::<E>(factor)).map_err(failed("scale"))
}
