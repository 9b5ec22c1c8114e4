use super::{Label, Labelled, broadcast, kernel::contract_by_kernel, label_array, position};
use crate::backend::{Backend, Tape};
use crate::ops::views::{Sizes, permuted};
use crate::ops::{OpError, Real, device_error};
use dfdx::shapes::Axis;
use dfdx::tensor::Tensor;
use dfdx::tensor_ops::{ReshapeTo, SumTo};
use std::array;

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
    let summed: Vec<Label> = x.labels.iter().copied().filter(|label| !to.contains(label)).collect();
    if summed.is_empty() {
        let sizes = to.map(|label| x.size(label));
        return broadcast(x, to, sizes).map_err(error);
    }
    if D::HAS_KERNELS {
        // A contraction with the number 1 reads `x` in place.
        let one: Tensor<[usize; 1], E, D> = x.tensor.device().try_ones_like(&[1]).map_err(&error)?;
        return contract_by_kernel(
            op,
            x,
            Labelled { tensor: one.retaped::<T>(), labels: label_array(&[]) },
            to,
            &summed,
        );
    }
    let kept = to.iter().filter(|label| x.has(**label)).copied();
    let order: Vec<Label> = kept.chain(summed.iter().copied()).collect();
    let order = array::from_fn(|axis| position(&x.labels, order[axis]).unwrap_or(axis));
    let (shape, len) = (to.map(|label| x.size(label)), summed.iter().map(|label| x.size(*label)).product::<usize>());
    let compute = || {
        let x = permuted(x.tensor, order)?;
        let count = shape.iter().product();
        let rows: Tensor<(usize, usize), E, D, T> = x.try_reshape_like(&(count, len))?;
        rows.try_sum::<(usize,), Axis<1>>()?.try_reshape_like(&shape)
    };
    compute().map_err(error)
}
