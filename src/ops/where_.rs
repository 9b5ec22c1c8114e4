//! [`where_`], the masks by which it chooses, and the comparisons that make one.

use super::unnamed::{choose, constant, repeated};
use super::{OpError, Real, cast, device_error, ensure_not_empty};
use crate::backend::{Backend, Tape, weight_on_tape};
use crate::dims::{AnyDim, DataDim, Dim};
use crate::mask::{AttentionMask, PaddingMask};
use dfdx::shapes::{HasShape, Shape};
use dfdx::tensor::{NoneTape, Tensor, TensorFromVec};
use dfdx::tensor_ops::{TryEq, TryGe, TryGt, TryLe, TryLt, TryNe};

/// The element of `input` where the mask is true, and `otherwise` where it is false.
///
/// It is `torch.where`. `masked_fill` of PyTorch has its mask the other way round: `x.masked_fill(hidden, number)` is
/// `where_(visible, x, number)`. The masks of this crate are true for what is visible.
///
/// The mask is a comparison such as [`gt`](super::gt), a [`PaddingMask`] or an [`AttentionMask`]; see [`Mask`].
/// `otherwise` is a number or a tensor of the same dimensions. An element that is not chosen has no effect on the
/// result or on gradients, even if it is NaN or infinite.
///
/// ```
/// use typed_transformer::{ops::{gt, where_}, prelude::*};
/// dims! { pub Len = 3; }
/// let x: Tensor<(Len,), f32, Cpu> = Cpu::default().tensor(vec![-1.0, 2.0, 3.0]);
/// let y: Tensor<(Len,), f32, Cpu> = Cpu::default().tensor(vec![7.0, 8.0, 9.0]);
/// let is_positive = gt(&x, 0.0)?;
/// assert_eq!(where_(&is_positive, x.clone(), 0.0)?.as_vec(), [0.0, 2.0, 3.0]);
/// assert_eq!(where_(is_positive, x, y)?.as_vec(), [7.0, 2.0, 3.0]);
/// # Ok::<(), OpError>(())
/// ```
///
/// Scores of hidden keys, as in attention:
///
/// ```
/// use typed_transformer::{ops::where_, prelude::*};
/// dims! { pub NumHeads = 1; pub QLen = 2; pub KLen = 2; pub Batch = 1; }
/// let scores: Tensor<(Batch, NumHeads, QLen, KLen), f32, Cpu> = Cpu::default().tensor(vec![1.0, 2.0, 3.0, 4.0]);
/// let mask = AttentionMask::from_fn((Batch, QLen, KLen), |_, q, k| k <= q);
/// assert_eq!(where_(&mask, scores, -100.0)?.as_vec(), [1.0, -100.0, 3.0, 4.0]);
/// # Ok::<(), OpError>(())
/// ```
#[doc(alias = "masked_fill")]
pub fn where_<
    Dims: Shape,
    Keeps: Mask<Dims, E, D>,
    Otherwise: TensorOrNumber<Dims, E, D, T>,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
>(
    mask: Keeps,
    input: Tensor<Dims, E, D, T>,
    otherwise: Otherwise,
) -> Result<Tensor<Dims, E, D, T>, OpError> {
    const OP: &str = "where";
    ensure_not_empty(OP, input.shape())?;
    let mask = mask.to_tensor(OP, input.shape(), input.device())?;
    let otherwise = otherwise.into_tensor(OP, input.shape(), input.device())?;
    choose(OP, mask, input, otherwise)
}

/// A mask over `Dims`: true for the elements of a tensor over `Dims` that stay.
///
/// | mask | over |
/// | --- | --- |
/// | `Tensor<Dims, bool, D>` | `Dims` |
/// | [`PaddingMask<B, S>`](PaddingMask), true for tokens | `(B, S)` and `(B, S, M)` |
/// | [`AttentionMask<B, Q, K>`](AttentionMask), true for visible keys | `(B, Q, K)` and `(B, H, Q, K)` |
/// | a reference to one of these | the same |
///
/// ```
/// use typed_transformer::{ops::where_, prelude::*};
/// dims! { pub VocabSize = 3; pub EmbedDim = 1; pub SeqLen = 2; pub Batch = 1; }
/// let ids = TokenIds::from_ids(&[1, 2], Some(Fin::<VocabSize>::literal::<2>()), (Batch, SeqLen))?;
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = Cpu::default().tensor(vec![5.0, 6.0]);
/// assert_eq!(where_(&ids.padding_mask(), x, 0.0)?.as_vec(), [5.0, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "the mask is not one over `{Dims}`",
    label = "`{Self}` is not a mask over `{Dims}`",
    note = "a `PaddingMask<B, S>` is a mask over `(B, S)` and `(B, S, M)`, an `AttentionMask<B, Q, K>` over `(B, Q, K)` and `(B, H, Q, K)`; any other mask is a comparison of tensors over `{Dims}`; for a mask of scores over fewer axes, `add` a tensor of 0 and -inf",
    note = "`mk_mask` and `mk_cross_mask` make an attention mask of padding"
)]
pub trait Mask<Dims: Shape, E: Real, D: Backend<E>> {
    /// The mask as a tensor, for an operation of this name on a tensor of this shape.
    fn to_tensor(&self, op: &'static str, shape: &Dims, device: &D) -> Result<Tensor<Dims, bool, D>, OpError>;
}

#[diagnostic::do_not_recommend]
impl<Dims: Shape, E: Real, D: Backend<E>, Keeps: Mask<Dims, E, D>> Mask<Dims, E, D> for &Keeps {
    fn to_tensor(&self, op: &'static str, shape: &Dims, device: &D) -> Result<Tensor<Dims, bool, D>, OpError> {
        (**self).to_tensor(op, shape, device)
    }
}

#[diagnostic::do_not_recommend]
impl<Dims: Shape, E: Real, D: Backend<E>> Mask<Dims, E, D> for Tensor<Dims, bool, D> {
    fn to_tensor(&self, op: &'static str, shape: &Dims, _: &D) -> Result<Tensor<Dims, bool, D>, OpError> {
        check_same_shape(op, shape, self.shape())?;
        Ok(self.clone())
    }
}

/// A mask over `$to`: the axes `$own` of the shape are those of the mask, which repeats itself along `$repeated`.
macro_rules! mask {
    ([$($bounds:tt)*] $mask:ty, $to:ty, [$($own:tt)*] $($repeated:literal)?) => {
        #[diagnostic::do_not_recommend]
        impl<$($bounds)*, E: Real, D: Backend<E>> Mask<$to, E, D> for $mask {
            fn to_tensor(&self, op: &'static str, shape: &$to, device: &D) -> Result<Tensor<$to, bool, D>, OpError> {
                check_same_shape(op, &($(shape.$own),*), &self.shape())?;
                let mask = bool_tensor(op, self.as_slice().to_vec(), self.shape(), device)?;
                $(let mask = repeated::<E, $repeated, _, _, _>(op, mask, shape)?;)?
                Ok(mask)
            }
        }
    };
}
mask!([B: DataDim, S: Dim] PaddingMask<B, S>, (B, S), [0 1]);
mask!([B: DataDim, S: Dim, M: AnyDim] PaddingMask<B, S>, (B, S, M), [0 1] 2);
mask!([B: DataDim, Q: Dim, K: Dim] AttentionMask<B, Q, K>, (B, Q, K), [0 1 2]);
mask!([B: DataDim, H: AnyDim, Q: Dim, K: Dim] AttentionMask<B, Q, K>, (B, H, Q, K), [0 2 3] 1);

/// A number, or a tensor over `Dims`: the alternative of [`where_`](super::where_).
///
/// A reference to a tensor is a constant or a parameter: it has no tape of its own.
///
/// ```
/// use typed_transformer::{ops::{gt, where_}, prelude::*};
/// dims! { pub Len = 2; }
/// let x: Tensor<(Len,), f32, Cpu> = Cpu::default().tensor(vec![1.0, 2.0]);
/// let y: Tensor<(Len,), f32, Cpu> = Cpu::default().tensor(vec![3.0, 3.0]);
/// let is_large = gt(&x, 1.5)?;
/// assert_eq!(where_(&is_large, x.clone(), &y)?.as_vec(), where_(&is_large, x, 3.0)?.as_vec());
/// # Ok::<(), OpError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "the operand is neither an `f64` nor a tensor over `{Dims}`",
    label = "`{Self}` is neither",
    note = "a number is written `2.0`, and an `f32` is `f64::from(x)`",
    note = "an operand is an `f64`, a tensor over `{Dims}` of the same dtype, device and tape, or a reference to one without a tape"
)]
pub trait TensorOrNumber<Dims: Shape, E: Real, D: Backend<E>, T: Tape<E, D>> {
    /// The operand as a tensor, for an operation of this name on a tensor of this shape.
    fn into_tensor(self, op: &'static str, shape: &Dims, device: &D) -> Result<Tensor<Dims, E, D, T>, OpError>;
}

#[diagnostic::do_not_recommend]
impl<Dims: Shape, E: Real, D: Backend<E>, T: Tape<E, D>> TensorOrNumber<Dims, E, D, T> for f64 {
    fn into_tensor(self, op: &'static str, shape: &Dims, device: &D) -> Result<Tensor<Dims, E, D, T>, OpError> {
        constant(op, cast(self), shape, device)
    }
}

#[diagnostic::do_not_recommend]
impl<Dims: Shape, E: Real, D: Backend<E>, T: Tape<E, D>> TensorOrNumber<Dims, E, D, T> for Tensor<Dims, E, D, T> {
    fn into_tensor(self, op: &'static str, shape: &Dims, _: &D) -> Result<Self, OpError> {
        check_same_shape(op, shape, self.shape())?;
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<Dims: Shape, E: Real, D: Backend<E>, T: Tape<E, D>> TensorOrNumber<Dims, E, D, T> for &Tensor<Dims, E, D> {
    fn into_tensor(self, op: &'static str, shape: &Dims, _: &D) -> Result<Tensor<Dims, E, D, T>, OpError> {
        check_same_shape(op, shape, self.shape())?;
        Ok(weight_on_tape(self, T::default()))
    }
}

/// Declares operations of one signature, each from the method of dfdx, its words, its sign and the result of the
/// example.
macro_rules! comparison {
    ({$($signature:tt)*}) => {};
    (
        {$($signature:tt)*}
        pub fn $name:ident($left:ident, $right:ident) = $method:ident, $holds:tt, $words:literal, $sign:literal, $result:literal;
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
            let left = $left.retaped::<NoneTape>();
            if D::HAS_KERNELS {
                let (shape, device) = (*left.shape(), left.device().clone());
                let read = |tensor| D::read(tensor, &mut NoneTape).map_err(device_error(stringify!($name)));
                let (left, right) = (read(left)?, read(right)?);
                let elements = left.elements().iter().zip(right.elements());
                let holds = elements.map(|(left, right)| left $holds right).collect();
                return bool_tensor(stringify!($name), holds, shape, &device);
            }
            left.$method(&right).map_err(device_error(stringify!($name)))
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
        = try_eq, ==, "equal to", "=", "[false, true, false]";
    pub fn ne(left, right)
        = try_ne, !=, "different from", "≠", "[true, false, true]";
    pub fn gt(left, right)
        = try_gt, >, "greater than", ">", "[false, false, true]";
    pub fn ge(left, right)
        = try_ge, >=, "at least", "≥", "[false, true, true]";
    pub fn lt(left, right)
        = try_lt, <, "less than", "<", "[true, false, false]";
    pub fn le(left, right)
        = try_le, <=, "at most", "≤", "[true, true, false]";
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

/// Compares the run-time sizes of two shapes.
pub(super) fn check_same_shape<Dims: Shape>(op: &'static str, left: &Dims, right: &Dims) -> Result<(), OpError> {
    if left != right {
        return Err(OpError::Shape { op, from: format!("{left:?}"), to: format!("{right:?}") });
    }
    Ok(())
}

pub(super) fn bool_tensor<Dims: Shape, D: TensorFromVec<bool>>(
    op: &'static str,
    elements: Vec<bool>,
    shape: Dims,
    device: &D,
) -> Result<Tensor<Dims, bool, D>, OpError> {
    device.try_tensor_from_vec(elements, shape).map_err(device_error(op))
}
