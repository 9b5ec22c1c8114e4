//! Normalizations: those of layers, whose weights scale the result, and the softmax of an axis and its logarithm.

use super::reduce::middle_axis;
use super::unnamed::{reshape_to, rows};
use super::views::{Lines, with_shape_type};
use super::{OpError, Real, cast, device_error, ensure_not_empty};
use crate::backend::{
    Backend, Norm, Tape, WeightTape, norm_kernel, read_weight, run_kernel, softmax_kernel, weight_on_tape,
};
use crate::dims::{AxisOf, ConstDim, DataShape, Dim, EndsIn, HasAxis, axis};
use dfdx::shapes::{Axis, HasShape};
use dfdx::tensor::Tensor;
use dfdx::tensor_ops::{BroadcastTo, MeanTo, TryAdd, TryDiv, TryMul};

type Matrix<E, D, T> = Tensor<[usize; 2], E, D, T>;
type Vector<E, D, T> = Tensor<[usize; 1], E, D, T>;

/// `(x - mean(x)) / √(var(x) + ε) · weight + bias`, mean and variance over the last dimension
/// ([Ba et al., 2016](https://arxiv.org/abs/1607.06450)). The variance is the biased one, `mean((x - mean(x))²)`.
///
/// `(.., M), (M), (M) -> (.., M)`, for tensors of 1 to 6 axes. A missing bias is zero.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub EmbedDim = 2; pub SeqLen = 1; pub Batch = 1; }
/// let device = Cpu::default();
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f64, Cpu> = device.tensor(vec![3.0, 7.0]);
/// let weight: Tensor<(EmbedDim,), f64, Cpu> = device.tensor(vec![1.0, 10.0]);
/// let bias: Tensor<(EmbedDim,), f64, Cpu> = device.tensor(vec![0.0, 5.0]);
/// assert_eq!(layer_norm(x, &weight, Some(&bias), 0.0)?.as_vec(), [-1.0, 15.0]);
/// # Ok::<(), OpError>(())
/// ```
pub fn layer_norm<Dims, M: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>, W: WeightTape<T, E, D>>(
    input: Tensor<Dims, E, D, T>,
    weight: &Tensor<(M,), E, D, W>,
    bias: Option<&Tensor<(M,), E, D, W>>,
    epsilon: f64,
) -> Result<Tensor<Dims, E, D, T>, OpError>
where
    Dims: EndsIn<M, Before: DataShape>,
{
    const OP: &str = "layer norm";
    if D::HAS_KERNELS {
        return run_kernel(OP, *input.shape(), |tape| {
            let input = D::read(input, tape)?;
            let weight = read_weight(weight, tape)?;
            let bias = bias.map(|bias| read_weight(bias, tape)).transpose()?;
            norm_kernel(input, Norm::new(NormKind::LayerNorm, epsilon, weight, bias))
        });
    }
    let (shape, rows) = (*input.shape(), plain_rows(OP, input)?);
    let bias = bias.map(|bias| plain_vector(OP, bias)).transpose()?;
    let output = layer_norm_by_dfdx(rows, plain_vector(OP, weight)?, bias, epsilon);
    reshape_to(OP, output.map_err(device_error(OP))?, shape)
}

/// [`rows`] of plain sizes.
fn plain_rows<Dims: EndsIn<M>, M: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    op: &'static str,
    input: Tensor<Dims, E, D, T>,
) -> Result<Matrix<E, D, T>, OpError> {
    with_shape_type(op, rows::<Dims, M, _, _, _>(op, input)?)
}

/// A weight of plain sizes, on a tape of the type of the input.
fn plain_vector<M: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>, W: WeightTape<T, E, D>>(
    op: &'static str,
    weight: &Tensor<(M,), E, D, W>,
) -> Result<Vector<E, D, T>, OpError> {
    with_shape_type(op, weight_on_tape(weight, T::default()))
}

/// The definition of [`layer_norm`].
fn layer_norm_by_dfdx<E: Real, D: Backend<E>, T: Tape<E, D>>(
    x: Matrix<E, D, T>,
    weight: Vector<E, D, T>,
    bias: Option<Vector<E, D, T>>,
    epsilon: f64,
) -> Result<Matrix<E, D, T>, D::Err> {
    let shape = *x.shape();
    let y = x.try_normalize::<Axis<1>>(epsilon)?.try_mul(weight.try_broadcast_like::<_, Axis<0>>(&shape)?)?;
    match bias {
        Some(bias) => y.try_add(bias.try_broadcast_like::<_, Axis<0>>(&shape)?),
        None => Ok(y),
    }
}

/// `x / √(mean(x²) + ε) · weight`, the mean over the last dimension ([Zhang and Sennrich,
/// 2019](https://arxiv.org/abs/1910.07467); *Learning the Transformer*, "The Rest").
///
/// `(.., M), (M) -> (.., M)`, for tensors of 1 to 6 axes.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub EmbedDim = 2; pub SeqLen = 1; pub Batch = 1; }
/// let device = Cpu::default();
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f64, Cpu> = device.tensor(vec![1.0, -7.0]);
/// let weight: Tensor<(EmbedDim,), f64, Cpu> = device.tensor(vec![1.0, 10.0]);
/// // The mean of 1 and 49 is 25.
/// assert_eq!(rms_norm(x, &weight, 0.0)?.as_vec(), [0.2, -14.0]);
/// # Ok::<(), OpError>(())
/// ```
pub fn rms_norm<Dims, M: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>, W: WeightTape<T, E, D>>(
    input: Tensor<Dims, E, D, T>,
    weight: &Tensor<(M,), E, D, W>,
    epsilon: f64,
) -> Result<Tensor<Dims, E, D, T>, OpError>
where
    Dims: EndsIn<M, Before: DataShape>,
{
    const OP: &str = "RMS norm";
    if D::HAS_KERNELS {
        return run_kernel(OP, *input.shape(), |tape| {
            let input = D::read(input, tape)?;
            let weight = read_weight(weight, tape)?;
            norm_kernel(input, Norm::new(NormKind::RmsNorm, epsilon, weight, None))
        });
    }
    let (shape, rows) = (*input.shape(), plain_rows(OP, input)?);
    let output = rms_norm_by_dfdx(rows, plain_vector(OP, weight)?, epsilon);
    reshape_to(OP, output.map_err(device_error(OP))?, shape)
}

/// The definition of [`rms_norm`].
fn rms_norm_by_dfdx<E: Real, D: Backend<E>, T: Tape<E, D>>(
    x: Matrix<E, D, T>,
    weight: Vector<E, D, T>,
    epsilon: f64,
) -> Result<Matrix<E, D, T>, D::Err> {
    let shape = *x.shape();
    let mean_square = x.clone().try_square()?.try_mean::<[usize; 1], Axis<1>>()?;
    let root = mean_square.try_add(cast::<E>(epsilon))?.try_sqrt()?.try_broadcast_like::<_, Axis<1>>(&shape)?;
    x.try_div(root)?.try_mul(weight.try_broadcast_like::<_, Axis<0>>(&shape)?)
}

/// How a model normalizes: by [`layer_norm`](crate::ops::layer_norm()) or by [`rms_norm`](crate::ops::rms_norm()).
///
/// ```
/// use typed_transformer::{nn::{Conventions, NormKind}, prelude::TypedTransformer};
/// assert_eq!(TypedTransformer::NORM, NormKind::LayerNorm);
/// ```
pub use typed_transformer_cpu::NormKind;

/// `exp(x) / Σ exp(x)` along the axis `Name`; the shape stays the same.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub QLen = 1; pub KLen = 2; }
/// let scores: Tensor<(QLen, KLen), f64, Cpu> = Cpu::default().tensor(vec![0.0, 3f64.ln()]);
/// let weights = softmax_over(scores, axis::<KLen>())?;
/// assert!((weights.as_vec()[1] - 0.75).abs() < 1e-12);
/// # Ok::<(), OpError>(())
/// ```
pub fn softmax_over<Dims, Name: Dim, WhichAxis, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    _: AxisOf<Name>,
) -> Result<Tensor<Dims, E, D, T>, OpError>
where
    Dims: HasAxis<Name, WhichAxis>,
{
    const OP: &str = "softmax_over";
    ensure_not_empty(OP, input.shape())?;
    softmax(OP, false, input, axis::<Name>())
}

/// `x - log Σ exp(x)` along the axis `Name`, the logarithm of [`softmax_over`]; the shape stays the same.
///
/// It is finite where the softmax is so small that it is 0.
///
/// ```
/// use typed_transformer::{ops::log_softmax_over, prelude::*};
/// dims! { pub QLen = 1; pub KLen = 2; }
/// let scores: Tensor<(QLen, KLen), f64, Cpu> = Cpu::default().tensor(vec![-2000.0, 0.0]);
/// let weights = log_softmax_over(scores, axis::<KLen>())?;
/// assert_eq!(weights.as_vec(), [-2000.0, 0.0]);
/// # Ok::<(), OpError>(())
/// ```
pub fn log_softmax_over<Dims, Name: Dim, WhichAxis, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    _: AxisOf<Name>,
) -> Result<Tensor<Dims, E, D, T>, OpError>
where
    Dims: HasAxis<Name, WhichAxis>,
{
    const OP: &str = "log_softmax_over";
    ensure_not_empty(OP, input.shape())?;
    softmax(OP, true, input, axis::<Name>())
}

/// The softmax along the axis `Name`, or its logarithm.
pub(super) fn softmax<Dims, Name: Dim, WhichAxis, E: Real, D: Backend<E>, T: Tape<E, D>>(
    op: &'static str,
    is_log: bool,
    input: Tensor<Dims, E, D, T>,
    _: AxisOf<Name>,
) -> Result<Tensor<Dims, E, D, T>, OpError>
where
    Dims: HasAxis<Name, WhichAxis>,
{
    let (shape, axis) = (*input.shape(), middle_axis(input.shape(), Dims::INDEX));
    if D::HAS_KERNELS {
        return run_kernel(op, shape, |tape| softmax_kernel(D::read(input, tape)?, axis, is_log));
    }
    let lines: Lines<E, D, T> = reshape_to(op, input, (axis.outer, axis.len, axis.inner))?;
    let is_recorded_in_16_bits = size_of::<E>() == 2 && T::OWNS_TAPE;
    let softmax = match is_log {
        true => lines.try_log_softmax::<Axis<1>>(),
        // The gradient of dfdx's quotient divides by the square of the sum, which overflows from a sum of 256 on.
        false if is_recorded_in_16_bits => lines.try_log_softmax::<Axis<1>>().and_then(|logs| logs.try_exp()),
        false => lines.try_softmax::<Axis<1>>(),
    };
    reshape_to(op, softmax.map_err(device_error(op))?, shape)
}
