use super::{Labelled, position};
use crate::{
    backend::{Backend, ContractionAxis},
    dims::Label,
    ops::{
        OpError, Real, device_error,
        views::{Sizes, with_leading_axes},
    },
};
use dfdx::{
    shapes::HasShape,
    tensor::{NoneTape, SplitTape, Tape, Tensor},
    tensor_ops::{Device, ReshapeTo},
};
use std::array;

/// The contraction by the device's kernel, which reads both operands in place.
pub fn contract_by_kernel<const L: usize, const R: usize, const N: usize, E: Real, D: Backend<E>, T: Tape<E, D>>(
    op: &'static str,
    left: Labelled<L, E, D, T>,
    right: Labelled<R, E, D, T>,
    to: [Label; N],
    inner: &[Label],
) -> Result<Tensor<[usize; N], E, D, T>, OpError>
where
    [usize; L]: Sizes,
    [usize; R]: Sizes,
    [usize; N]: Sizes,
{
    let size = |label| left.size(label).max(right.size(label));
    let axis = |label: Label, is_in_output| ContractionAxis {
        size: size(label),
        left: position(&left.labels, label).map(|axis| axis + MAX_AXES - L),
        right: position(&right.labels, label).map(|axis| axis + MAX_AXES - R),
        is_in_output,
    };
    let axes = to.iter().map(|label| axis(*label, true)).chain(inner.iter().map(|label| axis(*label, false)));
    let axes: Vec<ContractionAxis> = axes.collect();
    let shape = to.map(size);

    let (left_tensor, tape) = left.tensor.split_tape();
    let (right_tensor, right_tape) = right.tensor.split_tape();
    let error = device_error::<D::Err>(op);
    let left_view = with_all_axes(left_tensor).map_err(&error)?;
    let right_view = with_all_axes(right_tensor).map_err(&error)?;
    let output = D::contraction_kernel(&left_view, &right_view, &axes, tape.merge(right_tape))?;
    output.try_reshape_like(&shape).map_err(error)
}

/// The most axes of a tensor.
const MAX_AXES: usize = 6;

/// A view of `x` with axes of size 1 before its own.
fn with_all_axes<const N: usize, E: Real, D: Device<E>>(
    x: Tensor<[usize; N], E, D>,
) -> Result<Tensor<[usize; MAX_AXES], E, D>, D::Err>
where
    [usize; N]: Sizes,
{
    let sizes = *x.shape();
    let shape = array::from_fn(|axis| (axis + N).checked_sub(MAX_AXES).map_or(1, |axis| sizes[axis]));
    with_leading_axes::<N, MAX_AXES, E, D, NoneTape>(x, shape)
}
