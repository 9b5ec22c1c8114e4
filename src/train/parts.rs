//! Parts of the elements of a model, counted over its trained parameters.

use crate::{backend::Backend, ops::Real};
use dfdx::{shapes::HasShape, tensor::Tensor};
use std::ops::Range;

/// The intersection of `part` with `elements`, counted from the start of `elements`.
pub(super) fn range_in(part: &Range<usize>, elements: Range<usize>) -> Range<usize> {
    let in_tensor = |element: usize| element.clamp(elements.start, elements.end) - elements.start;
    in_tensor(part.start)..in_tensor(part.end)
}

/// The elements of a flat tensor in a range.
pub(super) fn elements_in<E: Real, D: Backend<E>>(
    range: &Range<usize>,
    tensor: Tensor<(usize,), E, D>,
) -> Result<Tensor<(usize,), E, D>, D::Err> {
    if *range == (0..tensor.shape().0) { Ok(tensor) } else { tensor.try_slice((range.clone(),)) }
}
