//! Concatenation, splitting and slicing of an axis.

use super::gather::run_starts;
use super::{OpError, Real, device_error, ensure_not_empty, range_error, scale, unnamed::reshape_to};
use crate::backend::{Backend, Tape, concat_kernel, gather_kernel, run_kernel};
use crate::dims::{AtMost, AxisOf, ConcatAxis, Dim, HasAxis, SameAxes, SumOf};
use dfdx::shapes::{Axis, HasShape, Shape};
use dfdx::{tensor::Tensor, tensor_ops::TryConcatAlong};

/// Concatenates two tensors along an axis: `(.., One, ..), (.., Other, ..) -> (.., Total, ..)` with
/// `One + Other = Total`.
///
/// `Total` is [`Sum<One, Other>`](crate::dims::Sum) or a compile-time dimension of that size. All other axes must
/// agree.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub HeadDim = 1; pub Past; pub Present = 1; }
/// let device = Cpu::default();
/// let past: Tensor<(Past, HeadDim), f32, Cpu> =
///     device.tensor((vec![1.0, 2.0], (Past::new(2), HeadDim)));
/// let present: Tensor<(Present, HeadDim), f32, Cpu> = device.tensor(vec![3.0]);
/// let total: Tensor<(Sum<Past, Present>, HeadDim), f32, Cpu> =
///     concat(past, present, along::<Past, Present>())?;
/// assert_eq!(total.as_vec(), [1.0, 2.0, 3.0]);
/// # Ok::<(), OpError>(())
/// ```
pub fn concat<
    Dims,
    Next,
    One: Dim,
    Other: Dim,
    Total: SumOf<One, Other>,
    WhichAxis,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
>(
    one: Tensor<Dims, E, D, T>,
    other: Tensor<Next, E, D, T>,
    _: ConcatAxis<One, Other>,
) -> Result<Tensor<Dims::Replaced<Total>, E, D, T>, OpError>
where
    Dims: HasAxis<One, WhichAxis>,
    Next: HasAxis<Other, WhichAxis, Remaining: SameAxes<Dims::Remaining>>,
{
    const OP: &str = "concat";
    let (shape, other_shape) = (*one.shape(), *other.shape());
    let (outer, len, inner) = outer_len_inner(&shape, Dims::INDEX);
    let (_, other_len, _) = outer_len_inner(&other_shape, Dims::INDEX);
    let shape_error = || OpError::Shape { op: OP, from: format!("{shape:?}"), to: format!("{other_shape:?}") };
    let mut expected = sizes(&shape);
    expected[Dims::INDEX] = other_len;
    if sizes(&other_shape) != expected {
        return Err(shape_error());
    }
    let total = Total::from_size(len + other_len).ok_or_else(shape_error)?;
    let to = shape.replace_axis(total);
    ensure_not_empty(OP, &to)?;
    if D::HAS_KERNELS {
        return run_kernel(OP, to, |tape| concat_kernel(vec![D::read(one, tape)?, D::read(other, tape)?], outer));
    }
    // dfdx cannot hold two gradients of one tensor at once, and a scaled tensor is a new one.
    let other = if T::OWNS_TAPE { scale(other, 1.0)? } else { other };
    let one = reshape_to(OP, one, (outer, len, inner))?;
    let other = reshape_to(OP, other, (outer, other_len, inner))?;
    reshape_to(OP, (one, other).try_concat_along(Axis::<1>).map_err(device_error(OP))?, to)
}

/// The dimension of a part that [`split`] makes.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a tensor is split into two dimensions, and `{Self}` is none",
    label = "expected the dimension of a part",
    note = "the order is `split(x, One, Other, axis::<Total>())`: the tensor, its two parts, and the axis that they add up to"
)]
pub trait SplitPart: Dim {}
#[diagnostic::do_not_recommend]
impl<Any: Dim> SplitPart for Any {}

/// The inverse of [`concat`](fn@concat): `(.., Total, ..) -> (.., One, ..), (.., Other, ..)` with `One + Other =
/// Total`.
///
/// # Errors
/// [`OpError::Range`] if the sizes do not add up.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub HeadDim = 1; pub Past = 2; pub Present = 1; pub Total: Sum<Past, Present>; }
/// let x: Tensor<(Total, HeadDim), f32, Cpu> = Cpu::default().tensor(vec![1.0, 2.0, 3.0]);
/// let (past, present): (Tensor<(Past, HeadDim), f32, Cpu>, Tensor<(Present, HeadDim), f32, Cpu>) =
///     split(x, Past, Present, axis::<Total>())?;
/// assert_eq!((past.as_vec(), present.as_vec()), (vec![1.0, 2.0], vec![3.0]));
/// # Ok::<(), OpError>(())
/// ```
pub fn split<
    Dims,
    One: SplitPart,
    Other: SplitPart,
    Total: SumOf<One, Other>,
    WhichAxis,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
>(
    input: Tensor<Dims, E, D, T>,
    one: One,
    other: Other,
    _: AxisOf<Total>,
) -> Result<(Tensor<Dims::Replaced<One>, E, D, T>, Tensor<Dims::Replaced<Other>, E, D, T>), OpError>
where
    Dims: HasAxis<Total, WhichAxis>,
{
    const OP: &str = "split";
    let total = input.shape().axis();
    if one.size() + other.size() != total.size() {
        return Err(range_error(OP, &format_args!("{one:?} and {other:?}"), 0, &total));
    }
    let first = slice_axis(OP, input.clone(), 0, one)?;
    Ok((first, slice_axis(OP, input, one.size(), other)?))
}

/// A slice of the axis `Len`: `(.., Len, ..) -> (.., Part, ..)`. It begins at index `start`, and the type bounds
/// `Part` by `Len`.
///
/// # Errors
/// [`OpError::Range`] if the part goes past the end.
///
/// ```
/// use typed_transformer::{ops::narrow, prelude::*};
/// dims! { pub Len = 4; pub Part = 2; }
/// let x: Tensor<(Len,), f32, Cpu> = Cpu::default().tensor(vec![1.0, 2.0, 3.0, 4.0]);
/// let last: Tensor<(Part,), f32, Cpu> = narrow(x.clone(), axis::<Len>(), 2, Part)?;
/// assert_eq!(last.as_vec(), [3.0, 4.0]);
/// assert_eq!(
///     narrow(x, axis::<Len>(), 3, Part).unwrap_err().to_string(),
///     "narrow: Part=2 from 3 on is not inside Len=4",
/// );
/// # Ok::<(), OpError>(())
/// ```
pub fn narrow<Dims, Len: Dim, Part: AtMost<Len>, WhichAxis, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    _: AxisOf<Len>,
    start: usize,
    part: Part,
) -> Result<Tensor<Dims::Replaced<Part>, E, D, T>, OpError>
where
    Dims: HasAxis<Len, WhichAxis>,
{
    slice_axis("narrow", input, start, part)
}

/// The indices `start..start + part` of the axis `Len`: `(.., Len, ..) -> (.., Part, ..)`.
///
/// It is [`narrow`](super::narrow) for a part that is not bounded by `Len` in its type, such as a part of a run-time
/// axis.
///
/// # Errors
/// [`OpError::Range`] if the part goes past the end.
///
/// ```
/// use typed_transformer::{ops::slice, prelude::*};
/// dims! { pub SeqLen; pub Prompt; }
/// let x: Tensor<(SeqLen,), f32, Cpu> = Cpu::default().tensor((vec![1.0, 2.0, 3.0], (SeqLen::new(3),)));
/// let prompt: Tensor<(Prompt,), f32, Cpu> = slice(x.clone(), axis::<SeqLen>(), 0, Prompt::new(2))?;
/// assert_eq!(prompt.as_vec(), [1.0, 2.0]);
/// assert_eq!(
///     slice(x, axis::<SeqLen>(), 2, Prompt::new(2)).unwrap_err().to_string(),
///     "slice: Prompt=2 from 2 on is not inside SeqLen=3",
/// );
/// # Ok::<(), OpError>(())
/// ```
pub fn slice<Dims, Len: Dim, Part: Dim, WhichAxis, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    _: AxisOf<Len>,
    start: usize,
    part: Part,
) -> Result<Tensor<Dims::Replaced<Part>, E, D, T>, OpError>
where
    Dims: HasAxis<Len, WhichAxis>,
{
    slice_axis("slice", input, start, part)
}

/// The last indices of the axis `Len`, as many as `part` has: `(.., Len, ..) -> (.., Part, ..)`.
///
/// # Errors
/// [`OpError::Range`] if the axis has fewer.
///
/// ```
/// use typed_transformer::{ops::slice_last, prelude::*};
/// dims! { pub SeqLen; pub Next = 2; }
/// let x: Tensor<(SeqLen,), f32, Cpu> = Cpu::default().tensor((vec![1.0, 2.0, 3.0], (SeqLen::new(3),)));
/// let next: Tensor<(Next,), f32, Cpu> = slice_last(x, axis::<SeqLen>(), Next)?;
/// assert_eq!(next.as_vec(), [2.0, 3.0]);
/// # Ok::<(), OpError>(())
/// ```
pub fn slice_last<Dims, Len: Dim, Part: Dim, WhichAxis, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    axis: AxisOf<Len>,
    part: Part,
) -> Result<Tensor<Dims::Replaced<Part>, E, D, T>, OpError>
where
    Dims: HasAxis<Len, WhichAxis>,
{
    let start = input.shape().axis().size().saturating_sub(part.size());
    slice(input, axis, start, part)
}

/// The indices `start..start + part` of an axis.
pub(super) fn slice_axis<Dims, Len: Dim, Part: Dim, WhichAxis, E: Real, D: Backend<E>, T: Tape<E, D>>(
    op: &'static str,
    input: Tensor<Dims, E, D, T>,
    start: usize,
    part: Part,
) -> Result<Tensor<Dims::Replaced<Part>, E, D, T>, OpError>
where
    Dims: HasAxis<Len, WhichAxis>,
{
    let shape = *input.shape();
    let (outer, len, inner) = outer_len_inner(&shape, Dims::INDEX);
    let end = start.saturating_add(part.size());
    if end > len {
        return Err(range_error(op, &part, start, &shape.axis()));
    }
    let to = shape.replace_axis(part);
    ensure_not_empty(op, &to)?;
    if D::HAS_KERNELS {
        let (starts, row_len) = (run_starts(outer, &[start], len, inner), part.size() * inner);
        return run_kernel(op, to, |tape| gather_kernel(D::read(input, tape)?, starts, row_len));
    }
    // The backward pass of dfdx's slice overwrites the gradient of its input, and a scaled tensor is a new one.
    let input = if T::OWNS_TAPE { scale(input, 1.0)? } else { input };
    let blocks = reshape_to(op, input, (outer, len, inner))?;
    reshape_to(op, blocks.try_slice((.., start..end, ..)).map_err(device_error(op))?, to)
}

/// The number of elements before the axis, along it and after it.
pub(super) fn outer_len_inner<Dims: Shape>(shape: &Dims, index: usize) -> (usize, usize, usize) {
    let sizes = sizes(shape);
    let count = |sizes: &[usize]| sizes.iter().product();
    (count(&sizes[..index]), sizes[index], count(&sizes[index + 1..]))
}

pub(super) fn sizes<Dims: Shape>(shape: &Dims) -> Vec<usize> {
    shape.concrete().into_iter().collect()
}
