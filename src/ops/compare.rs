//! Comparisons, element by element.

use super::{OpError, Real, TensorOrNumber, device_error, ensure_not_empty, where_::check_same_shape};
use crate::backend::Backend;
use dfdx::shapes::{HasShape, Shape};
use dfdx::tensor::{NoneTape, Tensor};
use dfdx::tensor_ops::{TryEq, TryGe, TryGt, TryLe, TryLt, TryNe};

/// Declares operations of one signature, each from the method of dfdx, its words, its sign and the result of the
/// example.
macro_rules! comparison {
    ({$($signature:tt)*}) => {};
    (
        {$($signature:tt)*}
        pub fn $name:ident($left:ident, $right:ident) = $method:ident, $words:literal, $sign:literal, $result:literal;
        $($others:tt)*
    ) => {
        #[doc = concat!("Whether each element of `left` is ", $words, " `right`: `left ", $sign, " right`.")]
        ///
        /// `right` is a number or a tensor of the same dimensions. The result is a mask for [`where_`](super::where_).
        ///
        /// ```
        #[doc = concat!("use typed_transformer::{ops::", stringify!($name), ", prelude::*};")]
        /// dims! { pub Len = 3; }
        /// let x: Tensor<(Len,), f32, Cpu> = Cpu::default().tensor(vec![1.0, 2.0, 3.0]);
        #[doc = concat!("let mask: Tensor<(Len,), bool, Cpu> = ", stringify!($name), "(&x, 2.0)?;")]
        #[doc = concat!("assert_eq!(mask.as_vec(), ", $result, ");")]
        /// # Ok::<(), OpError>(())
        /// ```
        pub fn $name $($signature)* {
            ensure_not_empty(stringify!($name), $left.shape())?;
            let right = $right.into_tensor(stringify!($name), $left.shape(), $left.device())?;
            $left.retaped::<NoneTape>().$method(&right).map_err(device_error(stringify!($name)))
        }

        comparison! { {$($signature)*} $($others)* }
    };
}

comparison! {
    {
        <Dims: Shape, Right: Comparand<Dims, E, D>, E: Real, D: Backend<E>, T>(
            left: &Tensor<Dims, E, D, T>,
            right: Right,
        ) -> Result<Tensor<Dims, bool, D>, OpError>
    }
    pub fn eq(left, right)
        = try_eq, "equal to", "=", "[false, true, false]";
    pub fn ne(left, right)
        = try_ne, "different from", "≠", "[true, false, true]";
    pub fn gt(left, right)
        = try_gt, "greater than", ">", "[false, false, true]";
    pub fn ge(left, right)
        = try_ge, "at least", "≥", "[false, true, true]";
    pub fn lt(left, right)
        = try_lt, "less than", "<", "[true, false, false]";
    pub fn le(left, right)
        = try_le, "at most", "≤", "[true, true, false]";
}

/// A number, or a tensor over `Dims` with any tape: a comparison has no gradient.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "the operand is neither an `f64` nor a tensor over `{Dims}`",
    label = "`{Self}` is neither",
    note = "a number is written `2.0`, and an `f32` is `f64::from(x)`",
    note = "a tensor has the dtype and the device of the other operand"
)]
pub trait Comparand<Dims: Shape, E: Real, D: Backend<E>> {
    /// The operand as a tensor, for a comparison of this name with a tensor of this shape.
    fn into_tensor(self, op: &'static str, shape: &Dims, device: &D) -> Result<Tensor<Dims, E, D>, OpError>;
}

#[diagnostic::do_not_recommend]
impl<Dims: Shape, E: Real, D: Backend<E>> Comparand<Dims, E, D> for f64 {
    fn into_tensor(self, op: &'static str, shape: &Dims, device: &D) -> Result<Tensor<Dims, E, D>, OpError> {
        TensorOrNumber::into_tensor(self, op, shape, device)
    }
}

#[diagnostic::do_not_recommend]
impl<Dims: Shape, E: Real, D: Backend<E>, T> Comparand<Dims, E, D> for Tensor<Dims, E, D, T> {
    fn into_tensor(self, op: &'static str, shape: &Dims, device: &D) -> Result<Tensor<Dims, E, D>, OpError> {
        Comparand::into_tensor(&self, op, shape, device)
    }
}

#[diagnostic::do_not_recommend]
impl<Dims: Shape, E: Real, D: Backend<E>, T> Comparand<Dims, E, D> for &Tensor<Dims, E, D, T> {
    fn into_tensor(self, op: &'static str, shape: &Dims, _: &D) -> Result<Tensor<Dims, E, D>, OpError> {
        check_same_shape(op, shape, self.shape())?;
        Ok(self.retaped())
    }
}
