use super::{OpError, Real, cast, unnamed::try_map};
use dfdx::{
    shapes::Shape,
    tensor::{Tape, Tensor},
    tensor_ops::{Device, TryMul},
};
use typed_transformer_macros::panicking;

/// `factor · x`, element by element.
///
/// # Errors
/// [`OpError::Device`] if the device fails.
///
/// ```
/// use typed_transformer::{ops::scale, prelude::*};
/// let x: Tensor<(Const<2>,), f32, Cpu> = Cpu::default().tensor([1.0, 2.0]);
/// assert_eq!(scale(x, 1.5).array(), [1.5, 3.0]);
/// ```
#[panicking]
pub fn try_scale<Dims: Shape, E: Real, D: Device<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    factor: f64,
) -> Result<Tensor<Dims, E, D, T>, OpError> {
    try_map("scale", input, |x| x.try_mul(cast::<E>(factor)))
}
