//! Tensors whose axes are known by number: they move at run time, and no element is copied.
//!
//! dfdx's views name their axes by type. The views here are of shapes of plain sizes, `[usize; N]`.

use super::{OpError, Real, device_error};
use crate::backend::{Tape, num_threads, parallel_map};
use crate::dims::{self, AnyDim, for_each_shape};
use crate::internal::Internal;
use dfdx::shapes::{Axes, HasAxes, HasShape, PermuteShapeTo, ReduceShapeTo, Shape};
use dfdx::tensor::{Storage, Tensor};
use dfdx::tensor_ops::{BroadcastTo, Device, PermuteTo, RealizeTo, ReshapeTo};
use std::ops::{Index, Range};
use std::{array, fmt::Debug};

/// A shape of plain sizes: `[usize; 1]` to `[usize; 6]`.
#[diagnostic::on_unimplemented(
    message = "a tensor has more than 6 axes",
    label = "more than 6 axes, of an operand, of the result, or of the product of the first two operands"
)]
pub trait Sizes: Views {}
#[diagnostic::do_not_recommend]
impl<Any: Views> Sizes for Any {}

/// The views of a tensor over [`Sizes`], in a separate trait, so that only this crate has these functions.
pub trait Views: Shape<Concrete = Self> + Index<usize, Output = usize> + AsRef<[usize]> {
    /// The shape that has this size along each axis.
    fn from_fn(size: impl FnMut(usize) -> usize) -> Self;

    /// `tensor` with its axes in another order: axis `i` of the result is axis `order[i]` of `tensor`.
    fn permuted<E: Real, D: Device<E>, T: Tape<E, D>>(
        tensor: Tensor<Self, E, D, T>,
        order: Self,
    ) -> Result<Tensor<Self, E, D, T>, D::Err>;

    /// `tensor` with more axes before its own, along which it repeats itself: `[.., own axes] -> shape`.
    fn repeated<To: Sizes, E: Real, D: Device<E>, T: Tape<E, D>>(
        tensor: Tensor<Self, E, D, T>,
        shape: To,
    ) -> Result<Tensor<To, E, D, T>, D::Err>;

    /// [`Views::repeated`] of a tensor of `R` axes.
    fn repeat<const R: usize, E: Real, D: Device<E>, T: Tape<E, D>>(
        tensor: Tensor<[usize; R], E, D, T>,
        shape: Self,
    ) -> Result<Tensor<Self, E, D, T>, D::Err>
    where
        [usize; R]: Shape<Concrete = [usize; R]>;
}

#[diagnostic::do_not_recommend]
impl<const N: usize> Views for [usize; N]
where
    [usize; N]: Shape<Concrete = [usize; N]>,
{
    fn from_fn(size: impl FnMut(usize) -> usize) -> Self {
        array::from_fn(size)
    }

    fn permuted<E: Real, D: Device<E>, T: Tape<E, D>>(
        mut tensor: Tensor<Self, E, D, T>,
        order: Self,
    ) -> Result<Tensor<Self, E, D, T>, D::Err> {
        let mut current: [usize; N] = array::from_fn(|axis| axis);
        for (to, axis) in order.into_iter().enumerate() {
            let from = current.iter().position(|other| *other == axis).unwrap_or(to);
            for left in (to..from).rev() {
                current.swap(left, left + 1);
                tensor = match left {
                    0 => tensor.try_permute::<_, Swap<0, N>>()?,
                    1 => tensor.try_permute::<_, Swap<1, N>>()?,
                    2 => tensor.try_permute::<_, Swap<2, N>>()?,
                    3 => tensor.try_permute::<_, Swap<3, N>>()?,
                    _ => tensor.try_permute::<_, Swap<4, N>>()?,
                };
            }
        }
        Ok(tensor)
    }

    fn repeated<To: Sizes, E: Real, D: Device<E>, T: Tape<E, D>>(
        tensor: Tensor<Self, E, D, T>,
        shape: To,
    ) -> Result<Tensor<To, E, D, T>, D::Err> {
        To::repeat(tensor, shape)
    }

    fn repeat<const R: usize, E: Real, D: Device<E>, T: Tape<E, D>>(
        tensor: Tensor<[usize; R], E, D, T>,
        shape: Self,
    ) -> Result<Tensor<Self, E, D, T>, D::Err>
    where
        [usize; R]: Shape<Concrete = [usize; R]>,
    {
        tensor.try_broadcast_like::<_, Leading<R, N>>(&shape)
    }
}

/// A shape of up to 6 dimensions. The shape without axes counts as one axis of one element.
///
/// A function for tensors of any number of axes needs this bound to add or multiply:
///
/// ```
/// use typed_transformer::{dims::{AxesAmong, DataShape}, ops::{NamedAxes, mul}, prelude::*};
/// fn square<Dims, Order>(x: Tensor<Dims, f32, Cpu>) -> Result<Tensor<Dims, f32, Cpu>, OpError>
/// where
///     Dims: NamedAxes + AxesAmong<Dims, Order, Others: DataShape>,
/// {
///     mul(x.clone(), x)
/// }
/// dims! { pub SeqLen = 2; pub EmbedDim = 1; }
/// let x: Tensor<(SeqLen, EmbedDim), f32, Cpu> = Cpu::default().tensor(vec![2.0, 3.0]);
/// assert_eq!(square(x)?.as_vec(), [4.0, 9.0]);
/// # Ok::<(), OpError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a shape of up to 6 dimensions, each with a name",
    label = "an axis of `{Self}` is no dimension, or there are more than 6",
    note = "a function that adds or multiplies tensors of any shape has the bound `Dims: NamedAxes + AxesAmong<Dims, Order, Others: DataShape>`"
)]
pub trait NamedAxes: Shape {
    /// The shape as plain sizes.
    #[doc(hidden)]
    type Plain: Sizes;
    /// The names of the axes.
    #[doc(hidden)]
    fn names() -> Vec<String>;
    /// The same elements over plain sizes.
    #[doc(hidden)]
    fn into_sizes<E: Real, D: Device<E>, T: Tape<E, D>>(
        op: &'static str,
        tensor: Tensor<Self, E, D, T>,
        _: Internal,
    ) -> Result<Tensor<Self::Plain, E, D, T>, OpError>;
    /// The same elements over dimensions.
    #[doc(hidden)]
    fn from_sizes<E: Real, D: Device<E>, T: Tape<E, D>>(
        op: &'static str,
        tensor: Tensor<Self::Plain, E, D, T>,
        _: Internal,
    ) -> Result<Tensor<Self, E, D, T>, OpError>;
}

macro_rules! named_axes {
    () => {
        named_axes!(
            @impl [] [usize; 1]: |op, x| x.try_reshape_like(&[1]).map_err(device_error(op)),
            x.try_reshape_like(&()).map_err(device_error(op))
        );
    };
    (@impl [$($dim:ident)*] $plain:ty: |$op:ident, $x:ident| $into:expr, $from:expr) => {
        impl<$($dim: AnyDim),*> NamedAxes for ($($dim,)*) {
            type Plain = $plain;
            fn names() -> Vec<String> {
                vec![$(dims::name::<$dim>()),*]
            }
            fn into_sizes<E: Real, D: Device<E>, T: Tape<E, D>>(
                $op: &'static str,
                $x: Tensor<Self, E, D, T>,
                _: Internal,
            ) -> Result<Tensor<Self::Plain, E, D, T>, OpError> {
                $into
            }
            fn from_sizes<E: Real, D: Device<E>, T: Tape<E, D>>(
                $op: &'static str,
                $x: Tensor<Self::Plain, E, D, T>,
                _: Internal,
            ) -> Result<Tensor<Self, E, D, T>, OpError> {
                $from
            }
        }
    };
    ($($dim:ident)*) => {
        named_axes!(@impl [$($dim)*] <Self as Shape>::Concrete: |op, x| with_shape_type(op, x), with_shape_type(op, x));
    };
}
for_each_shape!(named_axes: A B C F G H);

/// The same elements over a shape of the same sizes.
pub fn with_shape_type<
    From: Shape,
    To: Shape<Concrete = From::Concrete>,
    E,
    D: Storage<E>,
    T: dfdx::tensor::Tape<E, D>,
>(
    op: &'static str,
    tensor: Tensor<From, E, D, T>,
) -> Result<Tensor<To, E, D, T>, OpError> {
    // Not by `map_err`: the compiler would make it, and its closure, for each pair of shapes.
    match tensor.try_realize() {
        Ok(tensor) => Ok(tensor),
        Err(tensor) => Err(shape_error(op, tensor.shape(), dims::name::<To>)),
    }
}

fn shape_error(op: &'static str, from: &dyn Debug, to: fn() -> String) -> OpError {
    OpError::Shape { op, from: format!("{from:?}"), to: to() }
}

/// The order in which `AXIS` and the axis after it change places.
#[derive(Clone, Copy, Default)]
struct Swap<const AXIS: usize, const N: usize>;

impl<const AXIS: usize, const N: usize> Axes for Swap<AXIS, N> {
    type Array = [isize; N];
    fn as_array() -> [isize; N] {
        array::from_fn(|axis| match axis {
            axis if axis == AXIS => axis as isize + 1,
            axis if axis == AXIS + 1 => axis as isize - 1,
            axis => axis as isize,
        })
    }
}
impl<const AXIS: usize, const N: usize> PermuteShapeTo<[usize; N], Swap<AXIS, N>> for [usize; N] {}

/// The axes of `[usize; N]` before its last `R`.
#[derive(Clone, Copy, Default)]
struct Leading<const R: usize, const N: usize>;

impl<const R: usize, const N: usize> Axes for Leading<R, N> {
    type Array = Range<isize>;
    fn as_array() -> Range<isize> {
        0..N as isize - R as isize
    }
}
impl<const R: usize, const N: usize> HasAxes<Leading<R, N>> for [usize; N] {
    fn size(&self) -> usize {
        self[..N - R].iter().product()
    }
}
impl<const R: usize, const N: usize> ReduceShapeTo<[usize; R], Leading<R, N>> for [usize; N] {}

/// A tensor as the elements before an axis, along it and after it.
pub(super) type Lines<E, D, T> = Tensor<(usize, usize, usize), E, D, T>;

/// The number of elements before the axis, along it and after it.
pub(super) fn outer_len_inner<Dims: Shape>(shape: &Dims, index: usize) -> (usize, usize, usize) {
    let sizes = sizes(shape);
    let count = |sizes: &[usize]| sizes.iter().product();
    (count(&sizes[..index]), sizes[index], count(&sizes[index + 1..]))
}

/// The results of `of_lines` for ranges of `lines` lines of `len` elements, joined. Threads divide the lines.
pub(super) fn map_lines<Value: Send>(
    lines: usize,
    len: usize,
    of_lines: impl Fn(Range<usize>) -> Vec<Value> + Sync,
) -> Vec<Value> {
    /// The fewest elements for a thread: for fewer, starting the thread takes longer.
    const MIN_ELEMENTS: usize = 1 << 14;
    let part_len = lines.div_ceil(num_threads()).max(MIN_ELEMENTS.div_ceil(len));
    let parts = (0..lines).step_by(part_len).map(|start| start..lines.min(start + part_len)).collect();
    let joined = |mut values: Vec<Value>, mut next: Vec<Value>| {
        values.append(&mut next);
        values
    };
    parallel_map(parts, of_lines).into_iter().reduce(joined).unwrap_or_default()
}

/// The sizes of the axes.
pub(super) fn sizes<Dims: Shape>(shape: &Dims) -> Vec<usize> {
    shape.concrete().into_iter().collect()
}

/// The shape whose axes have these sizes.
pub(super) fn shape_of_sizes<Dims: Shape>(op: &'static str, sizes: &[usize]) -> Result<Dims, OpError> {
    let mut concrete = Dims::Concrete::default();
    sizes.iter().enumerate().for_each(|(axis, &size)| concrete[axis] = size);
    let shape_error = || OpError::Shape { op, from: format!("{sizes:?}"), to: dims::name::<Dims>() };
    Dims::from_concrete(&concrete).ok_or_else(shape_error)
}
