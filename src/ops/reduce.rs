//! Reductions along a named axis and of all elements, the places of the highest elements, and cumulative sums.

use super::gather::gather_repeated;
use super::unnamed::reshape_to;
use super::views::{Lines, map_lines, outer_len_inner};
use super::{OpError, Real, device_error, ensure_not_empty, range_error};
use crate::backend::{Backend, MiddleAxis, ReductionKind, Tape, cumsum_kernel, elements_of, reduce_kernel, run_kernel};
use crate::dims::{AtMost, AxisOf, Dim, HasAxis, WholeShape};
use crate::tokens::Indices;
use dfdx::shapes::{Axis, HasShape, Shape};
use dfdx::tensor::{NoneTape, Tensor};
use dfdx::tensor_ops::{
    BroadcastTo, ChooseFrom, MaxTo, MeanTo, SumTo, TryAdd, TryConcatAlong, TryDiv, TryEq, TryLe, TryMul, TrySub,
};

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
        /// let x: Tensor<(SeqLen, EmbedDim), f32, Cpu> = Cpu::default().tensor(vec![1.0, 10.0, 2.0, 20.0, 3.0, 30.0]);
        #[doc = concat!("let of_columns: Tensor<(EmbedDim,), f32, Cpu> = ", stringify!($name), "(x, axis::<SeqLen>())?;")]
        #[doc = concat!("assert_eq!(of_columns.as_vec(), ", $result, ");")]
        /// # Ok::<(), OpError>(())
        /// ```
        pub fn $name $($signature)* {
            const OP: &str = stringify!($name);
            ensure_not_empty(OP, $input.shape())?;
            let (shape, axis) = ($input.shape().remove_axis(), middle_axis($input.shape(), Dims::INDEX));
            if D::HAS_KERNELS {
                return run_kernel(OP, shape, |tape| {
                    reduce_kernel(D::read($input, tape)?, axis, ReductionKind::$kind)
                });
            }
            let define = $definition;
            let lines: Lines<E, D, T> = reshape_to(OP, $input, (axis.outer, axis.len, axis.inner))?;
            reshape_to(OP, define(lines).map_err(device_error(OP))?, shape)
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
        = Sum, |x: Lines<E, D, T>| x.try_sum::<_, Axis<1>>(), "sum over", "[6.0, 60.0]", "";
    pub fn mean_over(input, axis)
        = Mean, |x: Lines<E, D, T>| x.try_mean::<_, Axis<1>>(), "mean over", "[2.0, 20.0]", "";
    pub fn max_over(input, axis)
        = Max, largest, "largest element along", "[3.0, 30.0]",
        "\n\nIt is NaN if an element is. Where `n` elements are the largest, `∂y/∂x` is `1 / n` for each of them, and 0 for \
         the others.";
}

/// The definition of [`max_over`]. dfdx's own maximum skips NaN and has the gradient 1 for each of the largest
/// elements.
fn largest<E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Lines<E, D, T>,
) -> Result<Tensor<(usize, usize), E, D, T>, D::Err> {
    let (shape, device) = (*input.shape(), input.device().clone());
    let elements = input.retaped::<NoneTape>();
    let largest = elements.clone().try_max::<_, Axis<1>>()?;
    let repeated = largest.clone().try_broadcast_like::<_, Axis<1>>(&shape)?;
    // 1 for each of the largest elements, 0 for a smaller one and NaN for NaN: their sum is `n`, or NaN.
    let (zeros, ones) = (device.try_zeros_like(&shape)?, device.try_ones_like(&shape)?);
    let is_largest = elements.try_eq(&repeated)?.try_choose(ones, zeros.clone())?;
    let is_number = elements.try_le(&repeated)?;
    let count = is_number.try_choose(is_largest, zeros.try_add(E::nan())?)?.try_sum::<_, Axis<1>>()?;
    // `y/n - y/n` adds 0 to the value and `1/n` to the gradient. For an infinite `y` it would be NaN, so the result is
    // `y/n`, which is infinite too.
    let share = input.try_max::<_, Axis<1>>()?.try_div(count)?;
    let constant = share.retaped::<NoneTape>().try_mul(E::one())?;
    let finite = share.clone().try_sub(constant)?.try_add(largest.clone())?;
    largest.try_abs()?.try_eq(E::infinity())?.try_choose(share, finite)
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
) -> Result<Tensor<(), E, D, T>, OpError> {
    mean_of_all("mean", input)
}

/// [`mean`] of a whole tensor or of a rank's part of one.
pub(super) fn mean_of_all<Dims: Shape, E: Real, D: Backend<E>, T: Tape<E, D>>(
    op: &'static str,
    input: Tensor<Dims, E, D, T>,
) -> Result<Tensor<(), E, D, T>, OpError> {
    ensure_not_empty(op, input.shape())?;
    if D::HAS_KERNELS {
        return reduce_all_by_kernel(op, input, ReductionKind::Mean);
    }
    let count = input.shape().num_elements();
    // On a GPU, dfdx cannot sum a tensor without axes.
    reshape_to(op, input, (count,))?.try_mean().map_err(device_error(op))
}

/// The index of the highest element along the axis `Name`; the first of several such indices.
///
/// `(.., Name, ..) -> (.., ..) indices of Name`
///
/// A NaN is never the highest element. `TokenIds::from` makes token ids of indices of a vocabulary.
///
/// # Errors
/// [`OpError::NotANumber`] if all elements along the axis are NaN.
///
/// ```
/// use typed_transformer::{ops::argmax, prelude::*};
/// dims! { pub VocabSize = 3; pub SeqLen = 2; pub Batch = 1; }
/// let device = Cpu::default();
/// let logits: Tensor<(Batch, SeqLen, VocabSize), f32, Cpu> = device.tensor(vec![0.1, 0.7, 0.2, 0.4, f32::NAN, 0.4]);
/// let ids: TokenIds<Batch, SeqLen, VocabSize> = argmax(&logits, axis::<VocabSize>())?.into();
/// assert_eq!(ids.as_slice(), [1, 0]);
///
/// let logits: Tensor<(Batch, SeqLen, VocabSize), f32, Cpu> = device.tensor(vec![f32::NAN; 6]);
/// let error = argmax(&logits, axis::<VocabSize>()).unwrap_err();
/// assert_eq!(error.to_string(), "argmax: every element is NaN or -inf");
/// # Ok::<(), OpError>(())
/// ```
pub fn argmax<Dims: HasAxis<Name, WhichAxis>, Name: Dim, WhichAxis, E: Real, D: Backend<E>, T>(
    input: &Tensor<Dims, E, D, T>,
    _: AxisOf<Name>,
) -> Result<Indices<Dims::Remaining, Name>, OpError> {
    const OP: &str = "argmax";
    let shape = *input.shape();
    ensure_not_empty(OP, &shape)?;
    let (outer, len, inner) = outer_len_inner(&shape, Dims::INDEX);
    let elements = elements_of(&input.retaped::<NoneTape>());
    let highest = |line: usize| {
        let start = line / inner * len * inner + line % inner;
        let numbers = (0..len).map(|index| (index, elements[start + index * inner])).filter(|(_, x)| !x.is_nan());
        numbers.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(index, _)| index)
    };
    let highest = map_lines(outer * inner, len, |lines| lines.map(highest).collect());
    let highest = highest.into_iter().collect::<Option<Vec<usize>>>().ok_or(OpError::NotANumber { op: OP })?;
    Ok(Indices::unchecked(highest.into(), shape.remove_axis(), shape.axis()))
}

/// The `K` highest elements along the axis `Name`, highest first, and their indices; of equal elements, the first ones.
///
/// `(.., Name, ..) -> (.., K, ..), (.., K, ..) indices of Name`, for a `K` that is at most `Name` by type.
///
/// A NaN is lower than every number. Gradients flow to the chosen elements. A mixture of experts chooses its experts
/// this way ([Shazeer et al., 2017](https://arxiv.org/abs/1701.06538), 2.1).
///
/// # Errors
/// [`OpError::Range`] if a run-time `K` is greater than the size of the axis.
///
/// ```
/// use typed_transformer::{ops::top_k, prelude::*, tokens::Indices};
/// dims! { pub NumExperts = 4; pub ExpertsPerToken = 2; pub SeqLen = 1; }
/// let gates: Tensor<(SeqLen, NumExperts), f32, Cpu> = Cpu::default().tensor(vec![0.1, 0.4, 0.2, 0.3]);
/// let (weights, experts) = top_k(gates, axis::<NumExperts>(), ExpertsPerToken)?;
/// let weights: Tensor<(SeqLen, ExpertsPerToken), f32, Cpu> = weights;
/// let experts: Indices<(SeqLen, ExpertsPerToken), NumExperts> = experts;
/// assert_eq!(weights.as_vec(), [0.4, 0.3]);
/// assert_eq!(experts.as_slice(), [1, 3]);
/// # Ok::<(), OpError>(())
/// ```
pub fn top_k<Dims, Name: Dim, K: AtMost<Name>, WhichAxis, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    _: AxisOf<Name>,
    k: K,
) -> Result<(Tensor<Dims::Replaced<K>, E, D, T>, Indices<Dims::Replaced<K>, Name>), OpError>
where
    Dims: HasAxis<Name, WhichAxis>,
{
    const OP: &str = "top_k";
    let shape = *input.shape();
    if k.size() > shape.axis().size() {
        return Err(range_error(OP, &k, 0, &shape.axis()));
    }
    ensure_not_empty(OP, &shape)?;
    let (outer, len, inner) = outer_len_inner(&shape, Dims::INDEX);
    let elements = elements_of(&input.retaped::<NoneTape>());
    let (count, max_candidates) = (k.size(), 256.max(4 * k.size())); // with fewer, selections would be frequent
    let of_lines = map_lines(outer * inner, len, |lines| {
        let (mut chosen, mut highest) = (Vec::with_capacity(lines.len() * count), Vec::new());
        for line in lines {
            let start = line / inner * len * inner + line % inner;
            let element = |index: usize| elements[start + index * inner];
            // A candidate is above the highest element left out so far. Only the `count` highest are sorted.
            let mut left_out: Option<E> = None;
            for index in 0..len {
                if left_out.is_none_or(|x| element(index) > x || x.is_nan()) {
                    highest.push(sort_key(element(index), index));
                }
                let must_select = highest.len() >= max_candidates || index + 1 == len;
                if must_select && highest.len() > count {
                    left_out = Some(element(*highest.select_nth_unstable(count).1 as usize));
                    highest.truncate(count);
                }
            }
            highest.sort_unstable();
            chosen.extend(highest.drain(..).map(|key| key as usize));
        }
        chosen
    });
    let mut chosen = vec![0; of_lines.len()];
    for (line, of_line) in of_lines.chunks_exact(count.max(1)).enumerate() {
        let start = line / inner * count * inner + line % inner;
        chosen[start..].iter_mut().step_by(inner).zip(of_line).for_each(|(chosen, index)| *chosen = *index);
    }
    let elements = gather_repeated(OP, input, &chosen, 1, shape.replace_axis(k))?;
    Ok((elements, Indices::unchecked(chosen.into(), shape.replace_axis(k), shape.axis())))
}

/// A number to sort a line's elements by: the highest first, equal ones in order, NaN last. Its low half is `index`.
fn sort_key<E: Real>(element: E, index: usize) -> u128 {
    // The bits of a positive number rise with it, and those of a negative one fall. `-0.0 + 0.0` is 0.
    let bits = element.to_f64().map_or(0, |x| (x + 0.0).to_bits());
    let place = if bits >> 63 == 0 { !(bits | 1 << 63) } else { bits };
    u128::from(if element.is_nan() { u64::MAX } else { place }) << 64 | index as u128
}

/// The cumulative sums along the axis `Name`, over the same shape: `out[.., n, ..] = Σ input[.., i, ..]` for `i <= n`.
///
/// ```
/// use typed_transformer::{ops::cumsum, prelude::*};
/// dims! { pub EmbedDim = 2; pub SeqLen = 3; }
/// let x: Tensor<(SeqLen, EmbedDim), f32, Cpu> = Cpu::default().tensor(vec![1.0, 10.0, 2.0, 20.0, 3.0, 30.0]);
/// assert_eq!(cumsum(x, axis::<SeqLen>())?.as_vec(), [1.0, 10.0, 3.0, 30.0, 6.0, 60.0]);
/// # Ok::<(), OpError>(())
/// ```
pub fn cumsum<Dims, Name: Dim, WhichAxis, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    _: AxisOf<Name>,
) -> Result<Tensor<Dims, E, D, T>, OpError>
where
    Dims: HasAxis<Name, WhichAxis>,
{
    const OP: &str = "cumsum";
    let shape = *input.shape();
    ensure_not_empty(OP, &shape)?;
    let (outer, len, inner) = outer_len_inner(&shape, Dims::INDEX);
    if D::HAS_KERNELS {
        let axis = MiddleAxis { outer, len, inner };
        return run_kernel(OP, shape, |tape| cumsum_kernel(D::read(input, tape)?, axis));
    }
    let mut sums = reshape_to(OP, input, (outer, len, inner))?;
    let compute = || {
        // Each sum of `width` elements and the one before it make a sum of twice as many.
        let mut width = 1;
        while width < len {
            // The backward pass of dfdx's slice overwrites the gradient of its input, so the input is a copy.
            let all = sums.clone().try_mul(E::one())?;
            let before = D::reshape(all.try_slice((.., ..len - width, ..))?, (outer, len - width, inner))?;
            let nothing: Tensor<_, E, D> = sums.device().try_zeros_like(&(outer, width, inner))?;
            sums = sums.try_add((nothing.retaped::<T>(), before).try_concat_along(Axis::<1>)?)?;
            width *= 2;
        }
        Ok(sums)
    };
    reshape_to(OP, compute().map_err(device_error::<D::Err>(OP))?, shape)
}

/// The reduction of all elements by the device's kernel: `(..) -> ()`.
pub(super) fn reduce_all_by_kernel<Dims: Shape, E: Real, D: Backend<E>, T: Tape<E, D>>(
    op: &'static str,
    input: Tensor<Dims, E, D, T>,
    kind: ReductionKind,
) -> Result<Tensor<(), E, D, T>, OpError> {
    let axis = MiddleAxis { outer: 1, len: input.shape().num_elements(), inner: 1 };
    run_kernel(op, (), |tape| reduce_kernel(D::read(input, tape)?, axis, kind))
}

/// An axis by its number.
pub(super) fn middle_axis(shape: &impl Shape, index: usize) -> MiddleAxis {
    let (outer, len, inner) = outer_len_inner(shape, index);
    MiddleAxis { outer, len, inner }
}
