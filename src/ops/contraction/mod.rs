//! Contractions of two tensors over plain sizes, lowered to one batched matrix product.

mod kernel;
mod sum;

pub(super) use sum::sum_to;

use super::views::{Sizes, permuted, with_leading_axes};
use super::{OpError, Real, device_error, elementwise};
use crate::backend::{Arithmetic, Backend, Linear, Tape, linear_kernel, run_kernel};
use crate::dims;
use dfdx::shapes::{Axes2, HasShape, Shape};
use dfdx::tensor::Tensor;
use dfdx::tensor_ops::{PermuteTo, RealizeTo, ReshapeTo, TryMatMul};
use kernel::contract_by_kernel;
use std::array;

/// A number in place of an axis's name. Two axes have the same label if and only if they have the same name.
pub type Label = u8;

/// The label of the only axis of a tensor without axes.
pub const NO_AXIS: Label = Label::MAX;

/// The labels; those of a tensor without axes are [`NO_AXIS`].
pub fn label_array<const N: usize>(labels: &[Label]) -> [Label; N] {
    array::from_fn(|axis| labels.get(axis).copied().unwrap_or(NO_AXIS))
}

/// A tensor whose axes have labels.
pub struct Labelled<const N: usize, E: Real, D: Backend<E>, T>
where
    [usize; N]: Sizes,
{
    pub tensor: Tensor<[usize; N], E, D, T>,
    pub labels: [Label; N],
}

impl<const N: usize, E: Real, D: Backend<E>, T> Labelled<N, E, D, T>
where
    [usize; N]: Sizes,
{
    fn has(&self, label: Label) -> bool {
        self.labels.contains(&label)
    }

    /// The size of an axis; 1 if there is none.
    fn size(&self, label: Label) -> usize {
        position(&self.labels, label).map_or(1, |axis| self.tensor.shape()[axis])
    }

    fn len(&self) -> usize {
        self.tensor.shape().iter().product()
    }
}

fn position(labels: &[Label], label: Label) -> Option<usize> {
    labels.iter().position(|other| *other == label)
}

/// The sum of `x · w` over the axes that are in both and not in `to`; the result has the axes `to`.
///
/// Each axis of one operand alone must be in `to`.
pub fn contract<const X: usize, const W: usize, const N: usize, E: Real, D: Backend<E>, T: Tape<E, D>>(
    op: &'static str,
    x: Labelled<X, E, D, T>,
    w: Labelled<W, E, D, T>,
    to: [Label; N],
) -> Result<Tensor<[usize; N], E, D, T>, OpError>
where
    [usize; X]: Sizes,
    [usize; W]: Sizes,
    [usize; N]: Sizes,
{
    let mut shared = x.labels.iter().filter(|label| w.has(**label));
    if shared.clone().count() > 0 && shared.all(|label| to.contains(label)) {
        return multiply(op, x, w, to);
    }
    // A product has its rows before its columns. So the operand whose own axis is first in the result is the left one.
    let first_of = |one: &[Label], other: &[Label]| {
        to.iter().position(|label| one.contains(label) && !other.contains(label)).unwrap_or(0)
    };
    match first_of(&x.labels, &w.labels) <= first_of(&w.labels, &x.labels) {
        true => matmul(op, x, w, to),
        false => matmul(op, w, x, to),
    }
}

/// `x · w`, where each of the axes `to` is an axis of `x` or of `w`.
fn multiply<const X: usize, const W: usize, const N: usize, E: Real, D: Backend<E>, T: Tape<E, D>>(
    op: &'static str,
    x: Labelled<X, E, D, T>,
    w: Labelled<W, E, D, T>,
    to: [Label; N],
) -> Result<Tensor<[usize; N], E, D, T>, OpError>
where
    [usize; X]: Sizes,
    [usize; W]: Sizes,
    [usize; N]: Sizes,
{
    let sizes = to.map(|label| x.size(label).max(w.size(label)));
    let is_x_larger = x.len() >= w.len();
    let (x, w) =
        (broadcast(x, to, sizes).map_err(device_error(op))?, broadcast(w, to, sizes).map_err(device_error(op))?);
    // The kernel reads the second operand in place, also where it repeats itself.
    let (larger, smaller) = if is_x_larger { (x, w) } else { (w, x) };
    elementwise(op, Arithmetic::Mul, larger, smaller)
}

/// A view of `x` with the axes `to`. `x` repeats itself along those that it does not have.
pub fn broadcast<const R: usize, const N: usize, E: Real, D: Backend<E>, T: Tape<E, D>>(
    x: Labelled<R, E, D, T>,
    to: [Label; N],
    sizes: [usize; N],
) -> Result<Tensor<[usize; N], E, D, T>, D::Err>
where
    [usize; R]: Sizes,
    [usize; N]: Sizes,
{
    let new = (0..N).filter(|axis| !x.has(to[*axis]));
    let own = x.labels.iter().filter_map(|label| position(&to, *label));
    let order: Vec<usize> = new.chain(own).collect();
    let shape = array::from_fn(|axis| sizes[order[axis]]);
    let inverse = array::from_fn(|axis| order.iter().position(|other| *other == axis).unwrap_or(axis));
    permuted(with_leading_axes(x.tensor, shape)?, inverse)
}

/// The contraction as a batched product of matrices.
///
/// Axes of both operands and the result are batch axes. Axes of the left operand alone are rows, those of the right one
/// alone are columns. Axes of both operands that the result does not have are summed over.
fn matmul<const L: usize, const R: usize, const N: usize, E: Real, D: Backend<E>, T: Tape<E, D>>(
    op: &'static str,
    left: Labelled<L, E, D, T>,
    right: Labelled<R, E, D, T>,
    to: [Label; N],
) -> Result<Tensor<[usize; N], E, D, T>, OpError>
where
    [usize; L]: Sizes,
    [usize; R]: Sizes,
    [usize; N]: Sizes,
{
    let pick = |labels: &[Label], filter: &dyn Fn(Label) -> bool| -> Vec<Label> {
        labels.iter().copied().filter(|label| filter(*label)).collect()
    };
    // Shared axes take the order of the larger operand. So if the definition copies an operand, it is the smaller one.
    let shared = match left.len() >= right.len() {
        true => pick(&left.labels, &|label| right.has(label)),
        false => pick(&right.labels, &|label| left.has(label)),
    };
    let mut batch = pick(&shared, &|label| to.contains(&label));
    let inner = pick(&shared, &|label| !to.contains(&label));
    let rows = pick(&left.labels, &|label| !right.has(label));
    let columns = pick(&right.labels, &|label| !left.has(label));
    // dfdx's batched product has two batch axes: all but the last of these axes, and the last.
    let last_batch: Vec<Label> = batch.pop().into_iter().collect();

    let size = |label| left.size(label).max(right.size(label));
    let product = [&batch, &last_batch, &rows, &columns].into_iter().flatten().copied();
    let product: Vec<Label> = product.filter(|label| to.contains(label)).collect();
    let absent = to.iter().copied().filter(|label| !product.contains(label));
    let product: Vec<Label> = absent.chain(product.iter().copied()).collect();
    let shape = array::from_fn(|axis| size(product[axis]));
    let order = to.map(|label| position(&product, label).unwrap_or(0));

    if last_batch.is_empty()
        && left.labels == *[&*rows, &inner].concat()
        && right.labels == *[&*columns, &inner].concat()
    {
        let size_of = |labels: &[Label]| labels.iter().map(|label| size(*label)).product();
        let shape_of_map = (Rows::new(size_of(&rows)), Columns::new(size_of(&columns)), Inner::new(size_of(&inner)));
        let output = linear_map(op, left.tensor, right.tensor, shape_of_map)?;
        return output.try_reshape_like(&shape).and_then(|output| permuted(output, order)).map_err(device_error(op));
    }
    if D::HAS_KERNELS {
        return contract_by_kernel(op, left, right, to, &inner);
    }
    let compute = || {
        let left = into_blocks(left, [&batch, &last_batch, &rows, &inner])?;
        let right = into_blocks(right, [&batch, &last_batch, &inner, &columns])?;
        permuted(left.try_matmul(right)?.try_reshape_like(&shape)?, order)
    };
    compute().map_err(device_error::<D::Err>(op))
}

dims! {
    /// Rows of a product of matrices.
    Rows;
    /// Its columns.
    Columns;
    /// The elements that are multiplied and summed.
    Inner;
}

/// `left rightᵀ`, by the device's kernel of a linear map if it has one.
fn linear_map<L: Shape, R: Shape, E: Real, D: Backend<E>, T: Tape<E, D>>(
    op: &'static str,
    left: Tensor<L, E, D, T>,
    right: Tensor<R, E, D, T>,
    (rows, columns, inner): (Rows, Columns, Inner),
) -> Result<Tensor<(Rows, Columns), E, D, T>, OpError> {
    if D::HAS_KERNELS {
        return run_kernel(op, (rows, columns), T::default(), |tape| {
            let left = D::read(left, tape)?;
            let weight = D::read(right, tape)?;
            Ok(linear_kernel(left, Linear::new(weight, None, inner.size(), columns.size()))?)
        });
    }
    let product = || {
        let weight = right.try_reshape_like(&(columns, inner))?.try_permute::<_, Axes2<1, 0>>()?;
        left.try_reshape_like(&(rows, inner))?.try_matmul(weight)
    };
    product().map_err(device_error::<D::Err>(op))
}

/// Batched matrices: two axes count them, then there are rows and columns.
type Matrices<E, D, T> = Tensor<(usize, usize, usize, usize), E, D, T>;

/// Merges the axes of `x` into four: two of the batch, then two of the matrices.
///
/// Nothing is copied if the axes of each block are neighbours in `x`.
fn into_blocks<const N: usize, E: Real, D: Backend<E>, T: Tape<E, D>>(
    x: Labelled<N, E, D, T>,
    blocks: [&[Label]; 4],
) -> Result<Matrices<E, D, T>, D::Err>
where
    [usize; N]: Sizes,
{
    let sizes = blocks.map(|block| block.iter().map(|label| x.size(*label)).product::<usize>());
    // The blocks in the order of `x`; those without axes first.
    let mut order = [0, 1, 2, 3];
    order.sort_by_key(|i| blocks[*i].first().map(|label| position(&x.labels, *label)));
    let is_in_order = order.iter().flat_map(|i| blocks[*i]).eq(&x.labels);
    // Matrix products need a unit stride in a row or in a column.
    let is_matrix = order[3] >= 2 || sizes[order[3]] == 1;

    let tensor: Tensor<[usize; 4], E, D, T> = if !is_in_order || !is_matrix {
        let order = blocks.concat();
        let order = array::from_fn(|axis| position(&x.labels, order[axis]).unwrap_or(axis));
        permuted(x.tensor, order)?.try_reshape_like::<[usize; 4]>(&sizes)?
    } else if blocks.iter().all(|block| block.len() <= 1) {
        // Here `x` may be a permuted view, which a reshape would copy.
        let placeholders = [NO_AXIS - 4, NO_AXIS - 3, NO_AXIS - 2, NO_AXIS - 1];
        let to = array::from_fn(|i| blocks[i].first().copied().unwrap_or(placeholders[i]));
        broadcast::<N, 4, E, D, T>(x, to, sizes)?
    } else {
        let mut inverse = [0; 4];
        order.iter().enumerate().for_each(|(axis, i)| inverse[*i] = axis);
        permuted::<4, E, D, T>(x.tensor.try_reshape_like::<[usize; 4]>(&order.map(|i| sizes[i]))?, inverse)?
    };
    match tensor.try_realize() {
        Ok(matrices) => Ok(matrices),
        Err(tensor) => tensor.try_reshape_like(&sizes.into()),
    }
}
