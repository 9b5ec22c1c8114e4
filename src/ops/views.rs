//! Tensors whose axes are known by number: they move at run time, and no element is copied.
//!
//! dfdx's views name their axes by type. The views here are of shapes of plain sizes, `[usize; N]`.

use super::{OpError, Real, device_error};
use crate::backend::Tape;
use crate::dims::{self, AnyDim};
use crate::internal::Internal;
use dfdx::shapes::{Axes, HasAxes, HasShape, PermuteShapeTo, ReduceShapeTo, Shape};
use dfdx::tensor::{Storage, Tensor};
use dfdx::tensor_ops::{BroadcastTo, Device, PermuteTo, RealizeTo, ReshapeTo};
use std::{array, fmt::Debug, ops::Range};

/// A shape of plain sizes: `[usize; 1]` to `[usize; 6]`. Generic code writes it as the bound of [`NamedAxes`].
///
/// ```
/// use typed_transformer::ops::Sizes;
/// fn is_of_sizes<Any: Sizes>() {}
/// is_of_sizes::<[usize; 3]>();
/// ```
#[diagnostic::on_unimplemented(
    message = "a tensor has more than 6 axes",
    label = "more than 6 axes, of an operand, of the result, or of the product of the first two operands"
)]
pub trait Sizes: Shape<Concrete = Self> {}
#[diagnostic::do_not_recommend]
impl<Any: Shape<Concrete = Any>> Sizes for Any {}

/// A shape of up to 6 dimensions, as `N` plain sizes. The shape without axes counts as one axis of one element.
///
/// It is the bound of a module for tensors of any number of axes that adds or multiplies:
///
/// ```
/// use typed_transformer::{
///     dims::{AxesAmong, DataShape, EndsIn},
///     doctest::*,
///     nn::Linear,
///     ops::{Activation, NamedAxes, Silu, Sizes, mul},
///     prelude::*,
/// };
///
/// /// `silu(gate(x)) · hidden(x)`
/// #[module(output = HiddenDim)]
/// struct Gated<E, D> {
///     gate: Linear<EmbedDim, HiddenDim, E, D>,
///     hidden: Linear<EmbedDim, HiddenDim, E, D>,
/// }
///
/// impl<E: Real, D: Backend<E>> Gated<E, D> {
///     fn forward<Dims, Hidden, Order, const N: usize, T: Tape<E, D>>(
///         &self,
///         x: Tensor<Dims, E, D, T>,
///     ) -> Result<Tensor<Hidden, E, D, T>, OpError>
///     where
///         Dims: EndsIn<EmbedDim, Before: DataShape, WithLast<HiddenDim> = Hidden>,
///         Hidden: EndsIn<HiddenDim, Before: DataShape> + NamedAxes<N> + AxesAmong<Hidden, Order, Others: DataShape>,
///         [usize; N]: Sizes,
///     {
///         mul(Silu::apply(self.gate.forward(x.clone())?)?, self.hidden.forward(x)?)
///     }
/// }
///
/// let layer = Gated::<f32, Cpu>::build(&Cpu::default());
/// let vectors: Tensor<(Batch, EmbedDim), f32, Cpu> = Cpu::default().zeros();
/// let gated: Tensor<(Batch, HiddenDim), f32, Cpu> = layer.forward(vectors)?;
/// let sequences: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = Cpu::default().zeros();
/// let gated: Tensor<(Batch, SeqLen, HiddenDim), f32, Cpu> = layer.forward(sequences)?;
/// # Ok::<(), OpError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a shape of up to 6 dimensions, each with a name",
    label = "an axis of `{Self}` is no dimension, or it has more than 6"
)]
pub trait NamedAxes<const N: usize>: Shape
where
    [usize; N]: Sizes,
{
    /// The names of the axes.
    #[doc(hidden)]
    fn names() -> Vec<String>;
    /// The same elements over plain sizes.
    #[doc(hidden)]
    fn into_sizes<E: Real, D: Device<E>, T: Tape<E, D>>(
        op: &'static str,
        tensor: Tensor<Self, E, D, T>,
        _: Internal,
    ) -> Result<Tensor<[usize; N], E, D, T>, OpError>;
    /// The same elements over dimensions.
    #[doc(hidden)]
    fn from_sizes<E: Real, D: Device<E>, T: Tape<E, D>>(
        op: &'static str,
        tensor: Tensor<[usize; N], E, D, T>,
        _: Internal,
    ) -> Result<Tensor<Self, E, D, T>, OpError>;
}

impl NamedAxes<1> for () {
    fn names() -> Vec<String> {
        Vec::new()
    }
    fn into_sizes<E: Real, D: Device<E>, T: Tape<E, D>>(
        op: &'static str,
        tensor: Tensor<Self, E, D, T>,
        _: Internal,
    ) -> Result<Tensor<[usize; 1], E, D, T>, OpError> {
        tensor.try_reshape_like(&[1]).map_err(device_error(op))
    }
    fn from_sizes<E: Real, D: Device<E>, T: Tape<E, D>>(
        op: &'static str,
        tensor: Tensor<[usize; 1], E, D, T>,
        _: Internal,
    ) -> Result<Tensor<Self, E, D, T>, OpError> {
        tensor.try_reshape_like(&()).map_err(device_error(op))
    }
}

macro_rules! named_axes {
    ($count:literal: $($dim:ident)*) => {
        impl<$($dim: AnyDim),*> NamedAxes<$count> for ($($dim,)*) {
            fn names() -> Vec<String> {
                vec![$(dims::name::<$dim>()),*]
            }
            fn into_sizes<E: Real, D: Device<E>, T: Tape<E, D>>(
                op: &'static str,
                tensor: Tensor<Self, E, D, T>,
                _: Internal,
            ) -> Result<Tensor<[usize; $count], E, D, T>, OpError> {
                with_shape_type(op, tensor)
            }
            fn from_sizes<E: Real, D: Device<E>, T: Tape<E, D>>(
                op: &'static str,
                tensor: Tensor<[usize; $count], E, D, T>,
                _: Internal,
            ) -> Result<Tensor<Self, E, D, T>, OpError> {
                with_shape_type(op, tensor)
            }
        }
    };
}
named_axes!(1: A);
named_axes!(2: A B);
named_axes!(3: A B C);
named_axes!(4: A B C F);
named_axes!(5: A B C F G);
named_axes!(6: A B C F G H);

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
    // Not by `map_err`, which the compiler would make for each pair of shapes, with the closure.
    match tensor.try_realize() {
        Ok(tensor) => Ok(tensor),
        Err(tensor) => Err(shape_error(op, tensor.shape(), dims::name::<To>)),
    }
}

fn shape_error(op: &'static str, from: &dyn Debug, to: fn() -> String) -> OpError {
    OpError::Shape { op, from: format!("{from:?}"), to: to() }
}

/// `tensor` with its axes in another order: axis `i` of the result is axis `order[i]` of `tensor`.
pub fn permuted<const N: usize, E: Real, D: Device<E>, T: Tape<E, D>>(
    mut tensor: Tensor<[usize; N], E, D, T>,
    order: [usize; N],
) -> Result<Tensor<[usize; N], E, D, T>, D::Err>
where
    [usize; N]: Sizes,
{
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

/// `tensor` with more axes before its own, along which it repeats itself: `[.., R axes] -> shape`.
pub fn with_leading_axes<const R: usize, const N: usize, E: Real, D: Device<E>, T: Tape<E, D>>(
    tensor: Tensor<[usize; R], E, D, T>,
    shape: [usize; N],
) -> Result<Tensor<[usize; N], E, D, T>, D::Err>
where
    [usize; R]: Sizes,
    [usize; N]: Sizes,
{
    tensor.try_broadcast_like::<_, Leading<R, N>>(&shape)
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
