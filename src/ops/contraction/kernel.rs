use super::plan::{Axes, position, size_in, sizes_of};
use super::{Label, Labelled};
use crate::backend::{Backend, ContractionAxis, Tape, contraction_kernel, run_kernel};
use crate::ops::views::Sizes;
use crate::ops::{OpError, Real};
use dfdx::tensor::{Merge, Tensor};

/// The contraction by the device's kernel, which reads both operands in place.
pub fn contract_by_kernel<const L: usize, const R: usize, const N: usize, E: Real, D: Backend<E>, T, RightTape>(
    op: &'static str,
    left: Labelled<L, E, D, T>,
    right: Labelled<R, E, D, RightTape>,
    to: [Label; N],
    inner: &[Label],
) -> Result<Tensor<[usize; N], E, D, T>, OpError>
where
    T: Tape<E, D> + Merge<RightTape>,
    RightTape: Tape<E, D>,
    [usize; L]: Sizes,
    [usize; R]: Sizes,
    [usize; N]: Sizes,
{
    let axes = contraction_axes(left.axes(), right.axes(), &to, inner);
    let shape = sizes_of(left.axes(), right.axes(), to);
    run_kernel(op, shape, T::default(), |tape| {
        let left = D::read_strided(left.tensor, tape)?;
        Ok(contraction_kernel(left, D::read_strided(right.tensor, tape)?, &axes)?)
    })
}

/// The axes of the result, then those that are summed.
fn contraction_axes(left: Axes, right: Axes, to: &[Label], inner: &[Label]) -> Vec<ContractionAxis> {
    let axis = |label: Label, is_in_output| ContractionAxis {
        size: size_in(left, right, label),
        left: position(left.labels, label),
        right: position(right.labels, label),
        is_in_output,
    };
    to.iter().map(|label| axis(*label, true)).chain(inner.iter().map(|label| axis(*label, false))).collect()
}
