//! Comparisons, element by element.

use super::{OpError, Real, TensorOrNumber, device_error};
use crate::backend::Backend;
use dfdx::{
    shapes::{HasShape, Shape},
    tensor::{NoneTape, Tensor},
    tensor_ops::{TryEq, TryGe, TryGt, TryLe, TryLt, TryNe},
};
use typed_transformer_macros::panicking;

/// Whether each element of `left` is equal to `right`: `left = right`.
///
/// `right` is a number or a tensor of the same dimensions. The result is a mask for [`where_`](super::where_).
///
/// # Errors
/// [`OpError::Shape`] if two sizes of a run-time dimension differ; [`OpError::Device`] if the device fails.
///
/// ```
/// use typed_transformer::{ops::eq, prelude::*};
/// dims! { pub Len = 3; }
/// let x: Tensor<(Len,), f32, Cpu> = Cpu::default().tensor(vec![1.0, 2.0, 3.0]);
/// let mask: Tensor<(Len,), bool, Cpu> = eq(&x, 2.0);
/// assert_eq!(mask.as_vec(), [false, true, false]);
/// ```
#[panicking]
pub fn try_eq<Dims: Shape, Right: TensorOrNumber<Dims, E, D, NoneTape>, E: Real, D: Backend<E>, T>(
    left: &Tensor<Dims, E, D, T>,
    right: Right,
) -> Result<Tensor<Dims, bool, D>, OpError> {
    let right = right.try_into_tensor("eq", left.shape(), left.device())?;
    left.retaped::<NoneTape>().try_eq(&right).map_err(device_error("eq"))
}

/// Whether each element of `left` is different from `right`: `left ≠ right`.
///
/// `right` is a number or a tensor of the same dimensions. The result is a mask for [`where_`](super::where_).
///
/// # Errors
/// [`OpError::Shape`] if two sizes of a run-time dimension differ; [`OpError::Device`] if the device fails.
///
/// ```
/// use typed_transformer::{ops::ne, prelude::*};
/// dims! { pub Len = 3; }
/// let x: Tensor<(Len,), f32, Cpu> = Cpu::default().tensor(vec![1.0, 2.0, 3.0]);
/// let mask: Tensor<(Len,), bool, Cpu> = ne(&x, 2.0);
/// assert_eq!(mask.as_vec(), [true, false, true]);
/// ```
#[panicking]
pub fn try_ne<Dims: Shape, Right: TensorOrNumber<Dims, E, D, NoneTape>, E: Real, D: Backend<E>, T>(
    left: &Tensor<Dims, E, D, T>,
    right: Right,
) -> Result<Tensor<Dims, bool, D>, OpError> {
    let right = right.try_into_tensor("ne", left.shape(), left.device())?;
    left.retaped::<NoneTape>().try_ne(&right).map_err(device_error("ne"))
}

/// Whether each element of `left` is greater than `right`: `left > right`.
///
/// `right` is a number or a tensor of the same dimensions. The result is a mask for [`where_`](super::where_).
///
/// # Errors
/// [`OpError::Shape`] if two sizes of a run-time dimension differ; [`OpError::Device`] if the device fails.
///
/// ```
/// use typed_transformer::{ops::gt, prelude::*};
/// dims! { pub Len = 3; }
/// let x: Tensor<(Len,), f32, Cpu> = Cpu::default().tensor(vec![1.0, 2.0, 3.0]);
/// let mask: Tensor<(Len,), bool, Cpu> = gt(&x, 2.0);
/// assert_eq!(mask.as_vec(), [false, false, true]);
/// ```
#[panicking]
pub fn try_gt<Dims: Shape, Right: TensorOrNumber<Dims, E, D, NoneTape>, E: Real, D: Backend<E>, T>(
    left: &Tensor<Dims, E, D, T>,
    right: Right,
) -> Result<Tensor<Dims, bool, D>, OpError> {
    let right = right.try_into_tensor("gt", left.shape(), left.device())?;
    left.retaped::<NoneTape>().try_gt(&right).map_err(device_error("gt"))
}

/// Whether each element of `left` is at least `right`: `left ≥ right`.
///
/// `right` is a number or a tensor of the same dimensions. The result is a mask for [`where_`](super::where_).
///
/// # Errors
/// [`OpError::Shape`] if two sizes of a run-time dimension differ; [`OpError::Device`] if the device fails.
///
/// ```
/// use typed_transformer::{ops::ge, prelude::*};
/// dims! { pub Len = 3; }
/// let x: Tensor<(Len,), f32, Cpu> = Cpu::default().tensor(vec![1.0, 2.0, 3.0]);
/// let mask: Tensor<(Len,), bool, Cpu> = ge(&x, 2.0);
/// assert_eq!(mask.as_vec(), [false, true, true]);
/// ```
#[panicking]
pub fn try_ge<Dims: Shape, Right: TensorOrNumber<Dims, E, D, NoneTape>, E: Real, D: Backend<E>, T>(
    left: &Tensor<Dims, E, D, T>,
    right: Right,
) -> Result<Tensor<Dims, bool, D>, OpError> {
    let right = right.try_into_tensor("ge", left.shape(), left.device())?;
    left.retaped::<NoneTape>().try_ge(&right).map_err(device_error("ge"))
}

/// Whether each element of `left` is less than `right`: `left < right`.
///
/// `right` is a number or a tensor of the same dimensions. The result is a mask for [`where_`](super::where_).
///
/// # Errors
/// [`OpError::Shape`] if two sizes of a run-time dimension differ; [`OpError::Device`] if the device fails.
///
/// ```
/// use typed_transformer::{ops::lt, prelude::*};
/// dims! { pub Len = 3; }
/// let x: Tensor<(Len,), f32, Cpu> = Cpu::default().tensor(vec![1.0, 2.0, 3.0]);
/// let mask: Tensor<(Len,), bool, Cpu> = lt(&x, 2.0);
/// assert_eq!(mask.as_vec(), [true, false, false]);
/// ```
#[panicking]
pub fn try_lt<Dims: Shape, Right: TensorOrNumber<Dims, E, D, NoneTape>, E: Real, D: Backend<E>, T>(
    left: &Tensor<Dims, E, D, T>,
    right: Right,
) -> Result<Tensor<Dims, bool, D>, OpError> {
    let right = right.try_into_tensor("lt", left.shape(), left.device())?;
    left.retaped::<NoneTape>().try_lt(&right).map_err(device_error("lt"))
}

/// Whether each element of `left` is at most `right`: `left ≤ right`.
///
/// `right` is a number or a tensor of the same dimensions. The result is a mask for [`where_`](super::where_).
///
/// # Errors
/// [`OpError::Shape`] if two sizes of a run-time dimension differ; [`OpError::Device`] if the device fails.
///
/// ```
/// use typed_transformer::{ops::le, prelude::*};
/// dims! { pub Len = 3; }
/// let x: Tensor<(Len,), f32, Cpu> = Cpu::default().tensor(vec![1.0, 2.0, 3.0]);
/// let mask: Tensor<(Len,), bool, Cpu> = le(&x, 2.0);
/// assert_eq!(mask.as_vec(), [true, true, false]);
/// ```
#[panicking]
pub fn try_le<Dims: Shape, Right: TensorOrNumber<Dims, E, D, NoneTape>, E: Real, D: Backend<E>, T>(
    left: &Tensor<Dims, E, D, T>,
    right: Right,
) -> Result<Tensor<Dims, bool, D>, OpError> {
    let right = right.try_into_tensor("le", left.shape(), left.device())?;
    left.retaped::<NoneTape>().try_le(&right).map_err(device_error("le"))
}
