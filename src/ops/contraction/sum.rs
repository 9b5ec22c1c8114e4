use super::plan::{Axes, axes_of};
use super::{Label, Labelled, broadcast, kernel::contract_by_kernel, label_array};
use crate::backend::{Backend, Tape};
use crate::ops::views::{Sizes, permuted};
use crate::ops::{OpError, Real, device_error};
use dfdx::shapes::Axis;
use dfdx::tensor::Tensor;
use dfdx::tensor_ops::SumTo;

/// The sum of `x` over the axes that are not in `to`; the result has the axes `to`.
pub fn sum_to<const X: usize, const N: usize, E: Real, D: Backend<E>, T: Tape<E, D>>(
    op: &'static str,
    x: Labelled<X, E, D, T>,
    to: [Label; N],
) -> Result<Tensor<[usize; N], E, D, T>, OpError>
where
    [usize; X]: Sizes,
    [usize; N]: Sizes,
{
    let error = device_error::<D::Err>(op);
    let summed = x.axes().pick(|label| !to.contains(&label));
    let sizes = to.map(|label| x.axes().size(label));
    if summed.is_empty() {
        return broadcast(x, to, sizes).map_err(error);
    }
    if D::HAS_KERNELS {
        // A contraction with the number 1 reads `x` in place.
        let one: Tensor<[usize; 1], E, D> = x.tensor.device().try_ones_like(&[1]).map_err(&error)?;
        return contract_by_kernel(op, x, Labelled { tensor: one, labels: label_array(&[]) }, to, &summed);
    }
    let order = kept_first(x.axes(), &to, &summed);
    let count: usize = sizes.iter().product();
    let len = x.axes().len() / count.max(1);
    let compute = || {
        let rows = D::reshape(permuted(x.tensor, order)?, (count, len))?;
        D::reshape(rows.try_sum::<(usize,), Axis<1>>()?, sizes)
    };
    compute().map_err(error)
}

/// The axes of `x` in the order of `to`, then those that are summed.
fn kept_first<const X: usize>(x: Axes, to: &[Label], summed: &[Label]) -> [usize; X] {
    let kept = to.iter().filter(|label| x.has(**label));
    axes_of(x.labels, &kept.chain(summed).copied().collect::<Vec<_>>())
}
