//! Tensors joined along an axis or along a new one, and split again.

use super::operand::copied_if_same;
use super::slices::slice_axis;
use super::unnamed::reshape_to;
use super::views::{outer_len_inner, shape_of_sizes, sizes};
use super::{OpError, Real, device_error, ensure_not_empty, range_error, scale};
use crate::backend::{Backend, Tape, concat_kernel, run_kernel};
use crate::dims::{AxisOf, BroadcastFrom, ConcatAxis, Const, Continues, Dim, HasAxis, SumOf};
use dfdx::shapes::{Axes3, Axis, HasShape, Shape};
use dfdx::tensor::Tensor;
use dfdx::tensor_ops::{PermuteTo, TryConcatAlong, TryStack};

/// Concatenates two tensors along an axis: `(.., One, ..), (.., Other, ..) -> (.., Total, ..)` with
/// `One + Other = Total`.
///
/// `Total` is [`Sum<One, Other>`](crate::dims::Sum), a dimension that [`dims!`](crate::dims!) declares to be this sum,
/// or a `Const` of that size ([`SumOf`](crate::dims::SumOf)). All other axes must agree.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub HeadDim = 1; pub Past; pub Present = 1; }
/// let device = Cpu::default();
/// let past: Tensor<(Past, HeadDim), f32, Cpu> = device.tensor((vec![1.0, 2.0], (Past::new(2), HeadDim)));
/// let present: Tensor<(Present, HeadDim), f32, Cpu> = device.tensor(vec![3.0]);
/// let total: Tensor<(Sum<Past, Present>, HeadDim), f32, Cpu> = concat(past, present, along::<Past, Present>())?;
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
    Next: Continues<Dims, One, Other, WhichAxis>,
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
    // dfdx cannot hold two gradients of one tensor at once, so `other`, which may be `one` itself, is copied.
    let other = if T::OWNS_TAPE { scale(other, 1.0)? } else { other };
    let one = reshape_to(OP, one, (outer, len, inner))?;
    let other = reshape_to(OP, other, (outer, other_len, inner))?;
    reshape_to(OP, (one, other).try_concat_along(Axis::<1>).map_err(device_error(OP))?, to)
}

/// Stacks tensors along the new axis `name`: `Name` tensors `(.., ..) -> (.., Name, ..)`. The result's type says where
/// the axis is.
///
/// # Errors
/// [`OpError::Count`] if there are not `name` tensors.
///
/// ```
/// use typed_transformer::{ops::stack, prelude::*};
/// dims! { pub NumExperts = 2; pub Batch = 3; }
/// let device = Cpu::default();
/// let one: Tensor<(Batch,), f32, Cpu> = device.tensor(vec![1.0, 2.0, 3.0]);
/// let other: Tensor<(Batch,), f32, Cpu> = device.tensor(vec![10.0, 20.0, 30.0]);
/// let rows: Tensor<(NumExperts, Batch), f32, Cpu> = stack(vec![one.clone(), other.clone()], NumExperts)?;
/// assert_eq!(rows.as_vec(), [1.0, 2.0, 3.0, 10.0, 20.0, 30.0]);
/// let columns: Tensor<(Batch, NumExperts), f32, Cpu> = stack(vec![one.clone(), other], NumExperts)?;
/// assert_eq!(columns.as_vec(), [1.0, 10.0, 2.0, 20.0, 3.0, 30.0]);
/// let one: Result<Tensor<(NumExperts, Batch), _, _>, _> = stack(vec![one], NumExperts);
/// assert_eq!(one.unwrap_err().to_string(), "stack: 1 tensors for NumExperts=2");
/// # Ok::<(), OpError>(())
/// ```
pub fn stack<Smaller: Shape, Dims, Name: Dim, WhichAxis, E: Real, D: Backend<E>, T: Tape<E, D>>(
    tensors: Vec<Tensor<Smaller, E, D, T>>,
    name: Name,
) -> Result<Tensor<Dims, E, D, T>, OpError>
where
    Dims: BroadcastFrom<Smaller, Name, WhichAxis>,
{
    const OP: &str = "stack";
    let count = tensors.len();
    let shape = match tensors.first() {
        Some(first) if count == name.size() => *first.shape(),
        _ => return Err(OpError::Count { op: OP, expected: format!("{name:?}"), found: count }),
    };
    ensure_not_empty(OP, &shape)?;
    if let Some(other) = tensors.iter().find(|tensor| *tensor.shape() != shape) {
        return Err(OpError::Shape { op: OP, from: format!("{:?}", other.shape()), to: format!("{shape:?}") });
    }
    let mut sizes = sizes(&shape);
    sizes.insert(Dims::INDEX, count);
    let stacked: Dims = shape_of_sizes(OP, &sizes)?;
    let (before, _, after) = outer_len_inner(&stacked, Dims::INDEX);
    if D::HAS_KERNELS {
        return run_kernel(OP, stacked, |tape| {
            let parts = tensors.into_iter().map(|tensor| D::read(tensor, tape)).collect::<Result<_, _>>()?;
            concat_kernel(parts, before)
        });
    }
    let mut flat: Vec<Tensor<(usize,), E, D, T>> = Vec::with_capacity(count);
    for tensor in tensors {
        let mut tensor = reshape_to(OP, tensor, (shape.num_elements(),))?;
        for earlier in &flat {
            tensor = copied_if_same(earlier, tensor)?;
        }
        flat.push(tensor);
    }
    let rows: Tensor<(usize, usize), E, D, T> = flat.try_stack().map_err(device_error(OP))?;
    if Dims::INDEX == 0 {
        return reshape_to(OP, rows, stacked);
    }
    let blocks = reshape_to(OP, rows, (count, before, after))?;
    reshape_to(OP, blocks.try_permute::<_, Axes3<1, 0, 2>>().map_err(device_error(OP))?, stacked)
}

/// The parts of a tensor at each index of the axis `Name`, which is removed: the inverse of [`stack`], and the steps of
/// a recurrent network.
///
/// `(.., Name, ..) -> Name` tensors `(.., ..)`. A [`select`](super::select) of each index is slower: every `select` of
/// a view, such as one of [`permute`](super::permute), copies the whole tensor.
///
/// ```
/// use typed_transformer::{ops::unstack, prelude::*};
/// dims! { pub Batch = 2; pub SeqLen = 3; }
/// let x: Tensor<(Batch, SeqLen), f32, Cpu> = Cpu::default().tensor(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
/// let steps: Vec<Tensor<(Batch,), f32, Cpu>> = unstack(x, axis::<SeqLen>())?;
/// assert_eq!((steps.len(), steps[1].as_vec()), (3, vec![2.0, 5.0]));
/// # Ok::<(), OpError>(())
/// ```
pub fn unstack<Dims, Name: Dim, WhichAxis, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    _: AxisOf<Name>,
) -> Result<Vec<Tensor<Dims::Remaining, E, D, T>>, OpError>
where
    Dims: HasAxis<Name, WhichAxis>,
{
    const OP: &str = "unstack";
    let shape = *input.shape();
    ensure_not_empty(OP, &shape)?;
    // A view is copied once: otherwise each part would copy the whole view.
    let input = reshape_to(OP, input, shape)?;
    let part = |index| reshape_to(OP, slice_axis(OP, input.clone(), index, Const::<1>)?, shape.remove_axis());
    (0..shape.axis().size()).map(part).collect()
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
