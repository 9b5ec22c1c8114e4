//! Reductions along a named axis.

use super::{OpError, Real, concat_split::outer_len_inner, device_error, ensure_not_empty, unnamed::try_reshape_to};
use crate::backend::{Backend, MiddleAxis, ReductionKind, Tape, reduce_kernel, run_kernel, softmax_kernel};
use crate::dims::{AxisOf, Dim, HasAxis};
use dfdx::{
    shapes::{HasShape, Shape},
    tensor::Tensor,
    tensor_ops::{MaxTo, MeanTo, SumTo},
};
use typed_transformer_macros::panicking;

/// The sum over the axis `Name`: `(.., Name, ..) -> (.., ..)`.
///
/// # Errors
/// [`OpError::Empty`] if a dimension is 0; [`OpError::Device`] if the device fails.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub EmbedDim = 2; pub SeqLen = 3; }
/// let x: Tensor<(SeqLen, EmbedDim), f32, Cpu> =
///     Cpu::default().tensor(vec![1.0, 10.0, 2.0, 20.0, 3.0, 30.0]);
/// let of_columns: Tensor<(EmbedDim,), f32, Cpu> = sum_over(x, axis::<SeqLen>());
/// assert_eq!(of_columns.as_vec(), [6.0, 60.0]);
/// ```
#[panicking]
pub fn try_sum_over<Dims, Name: Dim, WhichAxis, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    _: AxisOf<Name>,
) -> Result<Tensor<Dims::Remaining, E, D, T>, OpError>
where
    Dims: HasAxis<Name, WhichAxis>,
{
    const OP: &str = "sum_over";
    ensure_not_empty(OP, input.shape())?;
    if D::HAS_KERNELS {
        let shape = input.shape().remove_axis();
        let axis = middle_axis(input.shape(), Dims::INDEX);
        return run_kernel(OP, shape, T::default(), |tape| {
            Ok(reduce_kernel(D::read(input, tape)?, axis, ReductionKind::Sum)?)
        });
    }
    input.try_sum::<_, Dims::Position>().map_err(device_error(OP))
}

/// The mean over the axis `Name`: `(.., Name, ..) -> (.., ..)`.
///
/// # Errors
/// [`OpError::Empty`] if a dimension is 0; [`OpError::Device`] if the device fails.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub EmbedDim = 2; pub SeqLen = 3; }
/// let x: Tensor<(SeqLen, EmbedDim), f32, Cpu> =
///     Cpu::default().tensor(vec![1.0, 10.0, 2.0, 20.0, 3.0, 30.0]);
/// let of_columns: Tensor<(EmbedDim,), f32, Cpu> = mean_over(x, axis::<SeqLen>());
/// assert_eq!(of_columns.as_vec(), [2.0, 20.0]);
/// ```
#[panicking]
pub fn try_mean_over<Dims, Name: Dim, WhichAxis, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    _: AxisOf<Name>,
) -> Result<Tensor<Dims::Remaining, E, D, T>, OpError>
where
    Dims: HasAxis<Name, WhichAxis>,
{
    const OP: &str = "mean_over";
    ensure_not_empty(OP, input.shape())?;
    if D::HAS_KERNELS {
        let shape = input.shape().remove_axis();
        let axis = middle_axis(input.shape(), Dims::INDEX);
        return run_kernel(OP, shape, T::default(), |tape| {
            Ok(reduce_kernel(D::read(input, tape)?, axis, ReductionKind::Mean)?)
        });
    }
    input.try_mean::<_, Dims::Position>().map_err(device_error(OP))
}

/// The largest element along the axis `Name`: `(.., Name, ..) -> (.., ..)`.
///
/// # Errors
/// [`OpError::Empty`] if a dimension is 0; [`OpError::Device`] if the device fails.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub EmbedDim = 2; pub SeqLen = 3; }
/// let x: Tensor<(SeqLen, EmbedDim), f32, Cpu> =
///     Cpu::default().tensor(vec![1.0, 10.0, 2.0, 20.0, 3.0, 30.0]);
/// let of_rows: Tensor<(SeqLen,), f32, Cpu> = max_over(x, axis::<EmbedDim>());
/// assert_eq!(of_rows.as_vec(), [10.0, 20.0, 30.0]);
/// ```
#[panicking]
pub fn try_max_over<Dims, Name: Dim, WhichAxis, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    _: AxisOf<Name>,
) -> Result<Tensor<Dims::Remaining, E, D, T>, OpError>
where
    Dims: HasAxis<Name, WhichAxis>,
{
    const OP: &str = "max_over";
    ensure_not_empty(OP, input.shape())?;
    if D::HAS_KERNELS {
        let shape = input.shape().remove_axis();
        let axis = middle_axis(input.shape(), Dims::INDEX);
        return run_kernel(OP, shape, T::default(), |tape| {
            Ok(reduce_kernel(D::read(input, tape)?, axis, ReductionKind::Max)?)
        });
    }
    input.try_max::<_, Dims::Position>().map_err(device_error(OP))
}

/// `exp(x) / Σ exp(x)` along the axis `Name`; the shape stays the same.
///
/// # Errors
/// [`OpError::Empty`] if a dimension is 0; [`OpError::Device`] if the device fails.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub QLen = 1; pub KLen = 2; }
/// let scores: Tensor<(QLen, KLen), f64, Cpu> = Cpu::default().tensor(vec![0.0, 3f64.ln()]);
/// let weights = softmax_over(scores, axis::<KLen>());
/// assert!((weights.as_vec()[1] - 0.75).abs() < 1e-12);
/// ```
#[panicking]
pub fn try_softmax_over<Dims, Name: Dim, WhichAxis, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    _: AxisOf<Name>,
) -> Result<Tensor<Dims, E, D, T>, OpError>
where
    Dims: HasAxis<Name, WhichAxis>,
{
    const OP: &str = "softmax_over";
    ensure_not_empty(OP, input.shape())?;
    if D::HAS_KERNELS {
        let (shape, axis) = (*input.shape(), middle_axis(input.shape(), Dims::INDEX));
        return run_kernel(OP, shape, T::default(), |tape| Ok(softmax_kernel(D::read(input, tape)?, axis, false)?));
    }
    contiguous(OP, input)?.try_softmax::<Dims::Position>().map_err(device_error(OP))
}

/// `x - log Σ exp(x)` along the axis `Name`, the logarithm of [`softmax_over`]; the shape stays the same.
///
/// It is finite for all finite `x`, where the logarithm of a softmax is not.
///
/// # Errors
/// [`OpError::Empty`] if a dimension is 0; [`OpError::Device`] if the device fails.
///
/// ```
/// use typed_transformer::{ops::log_softmax_over, prelude::*};
/// dims! { pub QLen = 1; pub KLen = 2; }
/// let scores: Tensor<(QLen, KLen), f64, Cpu> = Cpu::default().tensor(vec![-2000.0, 0.0]);
/// let weights = log_softmax_over(scores, axis::<KLen>());
/// assert_eq!(weights.as_vec(), [-2000.0, 0.0]);
/// ```
#[panicking]
pub fn try_log_softmax_over<Dims, Name: Dim, WhichAxis, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    _: AxisOf<Name>,
) -> Result<Tensor<Dims, E, D, T>, OpError>
where
    Dims: HasAxis<Name, WhichAxis>,
{
    const OP: &str = "log_softmax_over";
    ensure_not_empty(OP, input.shape())?;
    if D::HAS_KERNELS {
        let (shape, axis) = (*input.shape(), middle_axis(input.shape(), Dims::INDEX));
        return run_kernel(OP, shape, T::default(), |tape| Ok(softmax_kernel(D::read(input, tape)?, axis, true)?));
    }
    contiguous(OP, input)?.try_log_softmax::<Dims::Position>().map_err(device_error(OP))
}

/// A copy of a view whose axes are not in the order of its storage: the gradient of dfdx's softmax has another order than
/// such a view.
fn contiguous<Dims: Shape, E: Real, D: Backend<E>, T: Tape<E, D>>(
    op: &'static str,
    input: Tensor<Dims, E, D, T>,
) -> Result<Tensor<Dims, E, D, T>, OpError> {
    let shape = *input.shape();
    try_reshape_to(op, input, shape)
}

/// An axis by its number.
fn middle_axis(shape: &impl Shape, index: usize) -> MiddleAxis {
    let (outer, len, inner) = outer_len_inner(shape, index);
    MiddleAxis { outer, len, inner }
}
