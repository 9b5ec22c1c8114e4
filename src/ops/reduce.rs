//! Reductions along a named axis, and of all elements.

use super::{
    OpError, Real,
    concat_split::outer_len_inner,
    device_error, ensure_not_empty,
    unnamed::{reshape_to, softmax_by_dfdx},
};
use crate::backend::{Backend, MiddleAxis, ReductionKind, Tape, reduce_kernel, run_kernel, softmax_kernel};
use crate::dims::{AxisOf, Dim, HasAxis, WholeShape};
use dfdx::shapes::{HasShape, Rank0, Shape};
use dfdx::tensor::{NoneTape, Tensor};
use dfdx::tensor_ops::{BroadcastTo, ChooseFrom, MaxTo, MeanTo, SumTo, TryAdd, TryDiv, TryEq, TryLe, TryMul, TrySub};

/// Declares operations of one signature, each from the kernel, the definition, its words, the result of the example and
/// a note.
macro_rules! reduction {
    ({$($signature:tt)*}) => {};
    (
        {$($signature:tt)*}
        pub fn $name:ident($input:ident, axis)
            = $kind:ident, $definition:expr, $words:literal, $result:literal, $note:literal;
        $($others:tt)*
    ) => {
        #[doc = concat!("The ", $words, " the axis `Name`: `(.., Name, ..) -> (.., ..)`.")]
        #[doc = $note]
        ///
        /// ```
        /// use typed_transformer::prelude::*;
        /// dims! { pub EmbedDim = 2; pub SeqLen = 3; }
        /// let x: Tensor<(SeqLen, EmbedDim), f32, Cpu> =
        ///     Cpu::default().tensor(vec![1.0, 10.0, 2.0, 20.0, 3.0, 30.0]);
        #[doc = concat!("let of_columns: Tensor<(EmbedDim,), f32, Cpu> = ", stringify!($name), "(x, axis::<SeqLen>())?;")]
        #[doc = concat!("assert_eq!(of_columns.as_vec(), ", $result, ");")]
        /// # Ok::<(), OpError>(())
        /// ```
        pub fn $name $($signature)* {
            const OP: &str = stringify!($name);
            ensure_not_empty(OP, $input.shape())?;
            if D::HAS_KERNELS {
                let (shape, axis) = ($input.shape().remove_axis(), middle_axis($input.shape(), Dims::INDEX));
                return run_kernel(OP, shape, |tape| {
                    reduce_kernel(D::read($input, tape)?, axis, ReductionKind::$kind)
                });
            }
            let define = $definition;
            define($input).map_err(device_error(OP))
        }

        reduction! { {$($signature)*} $($others)* }
    };
}

reduction! {
    {
        <Dims, Name: Dim, WhichAxis, E: Real, D: Backend<E>, T: Tape<E, D>>(
            input: Tensor<Dims, E, D, T>,
            _: AxisOf<Name>,
        ) -> Result<Tensor<Dims::Remaining, E, D, T>, OpError>
        where
            Dims: HasAxis<Name, WhichAxis>,
    }
    pub fn sum_over(input, axis)
        = Sum, |x: Tensor<Dims, E, D, T>| x.try_sum::<_, Dims::Position>(), "sum over", "[6.0, 60.0]", "";
    pub fn mean_over(input, axis)
        = Mean, |x: Tensor<Dims, E, D, T>| x.try_mean::<_, Dims::Position>(), "mean over", "[2.0, 20.0]", "";
    pub fn max_over(input, axis)
        = Max, largest, "largest element along", "[3.0, 30.0]",
        "\n\nIt is NaN if an element is. Where `n` elements are the largest, `∂y/∂x` is `1 / n` for each of them, and 0 for \
         the others.";
}

/// The definition of [`max_over`]. dfdx's own maximum skips NaN and has the gradient 1 for each of the largest
/// elements.
fn largest<Dims, Name: Dim, WhichAxis, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
) -> Result<Tensor<Dims::Remaining, E, D, T>, D::Err>
where
    Dims: HasAxis<Name, WhichAxis>,
{
    let (shape, device) = (*input.shape(), input.device().clone());
    let elements = input.retaped::<NoneTape>();
    let largest = elements.clone().try_max::<_, Dims::Position>()?;
    let repeated = largest.clone().try_broadcast_like::<_, Dims::Position>(&shape)?;
    // 1 for each of the largest elements, 0 for a smaller one and NaN for NaN: their sum is `n`, or NaN.
    let (zeros, ones) = (device.try_zeros_like(&shape)?, device.try_ones_like(&shape)?);
    let is_largest = elements.try_eq(&repeated)?.try_choose(ones, zeros.clone())?;
    let is_number = elements.try_le(&repeated)?;
    let count = is_number.try_choose(is_largest, zeros.try_add(E::nan())?)?.try_sum::<_, Dims::Position>()?;
    // `y/n - y/n` adds 0 to the value and `1/n` to the gradient. It would be NaN for an infinite `y`, whose n-th part is
    // as large.
    let share = input.try_max::<_, Dims::Position>()?.try_div(count)?;
    let constant = share.retaped::<NoneTape>().try_mul(E::one())?;
    let finite = share.clone().try_sub(constant)?.try_add(largest.clone())?;
    largest.try_abs()?.try_eq(E::infinity())?.try_choose(share, finite)
}

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
    softmax("softmax_over", false, input)
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
    softmax("log_softmax_over", true, input)
}

/// The softmax along the axis `Name`, or its logarithm.
fn softmax<Dims, Name: Dim, WhichAxis, E: Real, D: Backend<E>, T: Tape<E, D>>(
    op: &'static str,
    is_log: bool,
    input: Tensor<Dims, E, D, T>,
) -> Result<Tensor<Dims, E, D, T>, OpError>
where
    Dims: HasAxis<Name, WhichAxis>,
{
    ensure_not_empty(op, input.shape())?;
    let shape = *input.shape();
    if D::HAS_KERNELS {
        let axis = middle_axis(&shape, Dims::INDEX);
        return run_kernel(op, shape, |tape| softmax_kernel(D::read(input, tape)?, axis, is_log));
    }
    // The gradient of dfdx's softmax does not have the order of axes that a permuted view has.
    let input = reshape_to(op, input, shape)?;
    let output = match is_log {
        true => input.try_log_softmax::<Dims::Position>(),
        false => softmax_by_dfdx::<Dims::Position, _, _, _, _>(input),
    };
    output.map_err(device_error(op))
}

/// The mean of all elements: `(..) -> ()`.
///
/// ```
/// use typed_transformer::{ops::mean, prelude::*};
/// dims! { pub EmbedDim = 2; pub SeqLen = 2; }
/// let x: Tensor<(SeqLen, EmbedDim), f32, Cpu> = Cpu::default().tensor(vec![1.0, 2.0, 3.0, 6.0]);
/// assert_eq!(mean(x)?.array(), 3.0);
/// # Ok::<(), OpError>(())
/// ```
pub fn mean<Dims: WholeShape, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
) -> Result<Tensor<Rank0, E, D, T>, OpError> {
    const OP: &str = "mean";
    ensure_not_empty(OP, input.shape())?;
    if D::HAS_KERNELS {
        return reduce_all_by_kernel(OP, input, ReductionKind::Mean);
    }
    let count = input.shape().num_elements();
    // On a GPU, dfdx cannot sum a tensor without axes.
    reshape_to(OP, input, (count,))?.try_mean().map_err(device_error(OP))
}

/// The reduction of all elements by the device's kernel: `(..) -> ()`.
pub(super) fn reduce_all_by_kernel<Dims: Shape, E: Real, D: Backend<E>, T: Tape<E, D>>(
    op: &'static str,
    input: Tensor<Dims, E, D, T>,
    kind: ReductionKind,
) -> Result<Tensor<Rank0, E, D, T>, OpError> {
    let axis = MiddleAxis { outer: 1, len: input.shape().num_elements(), inner: 1 };
    run_kernel(op, (), |tape| reduce_kernel(D::read(input, tape)?, axis, kind))
}

/// An axis by its number.
fn middle_axis(shape: &impl Shape, index: usize) -> MiddleAxis {
    let (outer, len, inner) = outer_len_inner(shape, index);
    MiddleAxis { outer, len, inner }
}
