use super::plan::{Axes, position, sizes_of};
use super::{Label, Labelled};
use crate::backend::{Backend, ContractionAxis, Tape, contraction_kernel, run_kernel};
use crate::ops::views::Sizes;
use crate::ops::{OpError, Real};
use dfdx::tensor::{SplitTape, Tensor};

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
    let axes = contraction_axes(left.axes(), right.axes(), &to, inner);
    let shape = sizes_of(left.axes(), right.axes(), to);
    let (left_tensor, tape) = left.tensor.split_tape();
    let (right_tensor, right_tape) = right.tensor.split_tape();
    run_kernel(op, shape, tape.merge(right_tape), |_| {
        Ok(contraction_kernel(D::read_strided(left_tensor)?, D::read_strided(right_tensor)?, &axes)?)
    })
}

/// The axes of the result, then those that are summed.
fn contraction_axes(left: Axes, right: Axes, to: &[Label], inner: &[Label]) -> Vec<ContractionAxis> {
    let axis = |label: Label, is_in_output| ContractionAxis {
        size: left.size(label).max(right.size(label)),
        left: position(left.labels, label),
        right: position(right.labels, label),
        is_in_output,
    };
    to.iter().map(|label| axis(*label, true)).chain(inner.iter().map(|label| axis(*label, false))).collect()
}
