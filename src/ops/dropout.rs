use super::{OpError, Real, failed, or_panic};
use dfdx::{
    shapes::Shape,
    tensor::{Tape, Tensor},
    tensor_ops::Device,
};

/// Sets each element to zero with probability `rate` and scales the others by `1 / (1 - rate)`;
/// any shape to the same shape ([Srivastava et al., 2014](https://jmlr.org/papers/v15/srivastava14a.html)).
///
/// It is active in training only, which is known by type: where no gradients are recorded (`T` is
/// `NoneTape`) it returns its input. The random numbers are those of the device.
///
/// # Panics
/// Unless `0 <= rate < 1` or if the device fails; [`try_dropout`] returns the error.
///
/// ```
/// use typed_transformer::{ops::dropout, prelude::*};
/// let x: Tensor<(Const<4>,), f32, Cpu> = Cpu::default().tensor([1.0; 4]);
/// assert_eq!(dropout(x.clone(), 0.5).array(), [1.0; 4]);
/// let kept: Vec<f32> = dropout(x.leaky_traced(), 0.5).as_vec();
/// assert!(kept.iter().all(|x| [0.0, 2.0].contains(x)));
/// ```
#[track_caller]
#[must_use]
pub fn dropout<Dims: Shape, E: Real, D: Device<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    rate: f64,
) -> Tensor<Dims, E, D, T> {
    or_panic(try_dropout(input, rate))
}

/// Fallible [`dropout`].
///
/// # Errors
/// [`OpError::Rate`] unless `0 <= rate < 1`; [`OpError::Device`] if the device fails.
///
/// ```
/// use typed_transformer::{ops::try_dropout, prelude::*};
/// let x: Tensor<(Const<4>,), f32, Cpu> = Cpu::default().zeros();
/// assert!(try_dropout(x.clone(), 0.0).is_ok());
/// assert!(try_dropout(x, 1.0).is_err());
/// ```
pub fn try_dropout<Dims: Shape, E: Real, D: Device<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    rate: f64,
) -> Result<Tensor<Dims, E, D, T>, OpError> {
    if !(0.0..1.0).contains(&rate) {
        return Err(OpError::Rate { rate });
    }
    if !T::OWNS_TAPE || rate == 0.0 {
        return Ok(input);
    }
    input.try_dropout(rate).map_err(failed("dropout"))
}
