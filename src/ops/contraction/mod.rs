//! Contractions of two tensors over plain sizes. The first row that fits says how:
//!
//! | contraction | on the CPU in `f32` | elsewhere |
//! | --- | --- | --- |
//! | outer products: each has 4 elements or more along axes of its own, none is summed | `contraction_kernel` | broadcast views |
//! | multiplication: the operands share axes; the result has them all | `arithmetic_kernel` | product of broadcast views |
//! | linear map: each has its own axes, then the shared ones, all summed | `linear_kernel` | product of two matrices |
//! | other | `contraction_kernel` | batched product of matrices |

mod plan;

pub use plan::{Label, or_unit_axis};

use super::views::{Sizes, Views};
use super::{OpError, Real, device_error, elementwise};
use crate::backend::{
    Arithmetic, Backend, ContractionAxis, Linear, Tape, contraction_kernel, linear_kernel, run_kernel,
};
use crate::dims;
use dfdx::shapes::{Axes2, Axis, HasShape, Shape};
use dfdx::tensor::{Merge, Tensor};
use dfdx::tensor_ops::{PermuteTo, RealizeTo, SumTo, TryMatMul};
use plan::{
    Axes, Blocks, Plan, axes_of, inverse, is_left, is_multiplication, is_outer_product, position, repeated_first,
    size_in, sizes_of,
};

/// A tensor whose axes have labels.
pub struct Labelled<'a, Dims: Sizes, E: Real, D: Backend<E>, T> {
    tensor: Tensor<Dims, E, D, T>,
    labels: &'a [Label],
}

impl<'a, Dims: Sizes, E: Real, D: Backend<E>, T> Labelled<'a, Dims, E, D, T> {
    /// A tensor and the labels of its axes; none if it had no axis before it got plain sizes.
    pub fn new(tensor: Tensor<Dims, E, D, T>, labels: &'a [Label]) -> Self {
        Self { tensor, labels: or_unit_axis(labels) }
    }

    fn axes(&self) -> Axes<'_> {
        Axes { labels: self.labels, sizes: self.tensor.shape().as_ref() }
    }
}

/// The sum of `x · w` over the axes that are in both and not in `to`; the result has the axes `to`.
///
/// Each axis of one operand alone must be in `to`.
pub fn contract<X: Sizes, W: Sizes, To: Sizes, E: Real, D: Backend<E>, T: Tape<E, D>>(
    op: &'static str,
    x: Labelled<X, E, D, T>,
    w: Labelled<W, E, D, T>,
    to: &[Label],
) -> Result<Tensor<To, E, D, T>, OpError> {
    let to = or_unit_axis(to);
    // The kernel of multiplication would copy an operand that repeats itself if the other one does, too.
    let is_outer = || D::HAS_KERNELS && is_outer_product(x.axes(), w.axes());
    if is_multiplication(x.axes(), w.axes(), to) && !is_outer() {
        return multiply(op, x, w, to);
    }
    if is_left(x.axes(), w.axes(), to) { matmul(op, x, w, to) } else { matmul(op, w, x, to) }
}

/// `x · w`, where each of the axes `to` is an axis of `x` or of `w`.
fn multiply<X: Sizes, W: Sizes, To: Sizes, E: Real, D: Backend<E>, T: Tape<E, D>>(
    op: &'static str,
    x: Labelled<X, E, D, T>,
    w: Labelled<W, E, D, T>,
    to: &[Label],
) -> Result<Tensor<To, E, D, T>, OpError> {
    let sizes = sizes_of(x.axes(), w.axes(), to);
    let is_x_larger = x.axes().len() >= w.axes().len();
    let (x, w) =
        (broadcast(x, to, sizes).map_err(device_error(op))?, broadcast(w, to, sizes).map_err(device_error(op))?);
    // The kernel reads the second operand in place, also where it repeats itself.
    let (larger, smaller) = if is_x_larger { (x, w) } else { (w, x) };
    elementwise(op, Arithmetic::Mul, larger, smaller)
}

/// A view of `x` with the axes `to`. `x` repeats itself along those that it does not have.
pub fn broadcast<Dims: Sizes, To: Sizes, E: Real, D: Backend<E>, T: Tape<E, D>>(
    x: Labelled<Dims, E, D, T>,
    to: &[Label],
    sizes: To,
) -> Result<Tensor<To, E, D, T>, D::Err> {
    let order: To = repeated_first(x.labels, to);
    let shape = To::from_fn(|axis| sizes[order[axis]]);
    Views::permuted(Views::repeated(x.tensor, shape)?, inverse(order))
}

/// The contraction as a batched product of matrices.
///
/// Axes of both operands and the result are batch axes. Axes of the left operand alone are rows, those of the right one
/// alone are columns. Axes of both operands that the result does not have are summed over.
fn matmul<L: Sizes, R: Sizes, To: Sizes, E: Real, D: Backend<E>, T: Tape<E, D>>(
    op: &'static str,
    left: Labelled<L, E, D, T>,
    right: Labelled<R, E, D, T>,
    to: &[Label],
) -> Result<Tensor<To, E, D, T>, OpError> {
    let plan = Plan::<To>::new(left.axes(), right.axes(), to);
    if let Some((rows, columns, inner)) = plan.linear_map(left.axes(), right.axes()) {
        let output =
            linear_map(op, left.tensor, right.tensor, (Rows::new(rows), Columns::new(columns), Inner::new(inner)))?;
        let output = D::reshape(output, plan.shape).and_then(|output| Views::permuted(output, plan.order));
        return output.map_err(device_error(op));
    }
    // The contraction kernel takes no operand without elements.
    if D::HAS_KERNELS && left.axes().len() > 0 && right.axes().len() > 0 {
        if plan.is_interleaved(left.axes(), right.axes(), to) {
            // The next kernel copies this view, in less time than products of parts take.
            let product = contract_by_kernel(op, left, right, &plan.product, &plan.inner)?;
            return Views::permuted(product, plan.order).map_err(device_error(op));
        }
        return contract_by_kernel(op, left, right, to, &plan.inner);
    }
    let compute = || {
        let left = into_matrices(left, [&plan.batch, &plan.rows, &plan.inner])?;
        let right = into_matrices(right, [&plan.batch, &plan.inner, &plan.columns])?;
        Views::permuted(D::reshape(left.try_matmul(right)?, plan.shape)?, plan.order)
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
        return run_kernel(op, (rows, columns), |tape| {
            let left = D::read(left, tape)?;
            let weight = D::read(right, tape)?;
            linear_kernel(left, Linear::new(weight, None, inner.size(), columns.size()))
        });
    }
    // On a GPU, dfdx's product reads beyond the end of a matrix that repeats itself. `reshape` copies such a matrix.
    let product = || {
        let weight = D::reshape(right, (columns, inner))?.try_permute::<_, Axes2<1, 0>>()?;
        D::reshape(left, (rows, inner))?.try_matmul(weight)
    };
    product().map_err(device_error::<D::Err>(op))
}

/// Merges the axes of `x` into three: the batch, then two of the matrices.
///
/// Nothing is copied if `x` is contiguous, each block is a part of its axes in their order, and the batch is not last.
fn into_matrices<Dims: Sizes, E: Real, D: Backend<E>, T: Tape<E, D>>(
    x: Labelled<Dims, E, D, T>,
    blocks: [&[Label]; 3],
) -> Result<Tensor<(usize, usize, usize), E, D, T>, D::Err> {
    let Blocks { sizes: [batch, rows, columns], order, is_matrix } = Blocks::new(x.axes(), blocks);
    if !is_matrix {
        return D::reshape(Views::permuted(x.tensor, axes_of(x.labels, &blocks.concat()))?, (batch, rows, columns));
    }
    let tensor = D::reshape(x.tensor, order.map(|block| [batch, rows, columns][block]))?;
    let matrices: Tensor<[usize; 3], E, D, T> = Views::permuted(tensor, inverse(order))?;
    matrices.try_realize().or_else(|matrices| D::reshape(matrices, (batch, rows, columns)))
}

/// The contraction by the device's kernel, which reads both operands in place.
fn contract_by_kernel<L: Sizes, R: Sizes, To: Sizes, E: Real, D: Backend<E>, T, RightTape: Tape<E, D>>(
    op: &'static str,
    left: Labelled<L, E, D, T>,
    right: Labelled<R, E, D, RightTape>,
    to: &[Label],
    inner: &[Label],
) -> Result<Tensor<To, E, D, T>, OpError>
where
    T: Tape<E, D> + Merge<RightTape>,
{
    let axes = contraction_axes(left.axes(), right.axes(), to, inner);
    let shape = sizes_of(left.axes(), right.axes(), to);
    run_kernel(op, shape, |tape| {
        let left = D::read_strided(left.tensor, tape)?;
        contraction_kernel(left, D::read_strided(right.tensor, tape)?, &axes)
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

/// The sum of `x` over the axes that are not in `to`; the result has the axes `to`.
pub fn sum_to<Dims: Sizes, To: Sizes, E: Real, D: Backend<E>, T: Tape<E, D>>(
    op: &'static str,
    x: Labelled<Dims, E, D, T>,
    to: &[Label],
) -> Result<Tensor<To, E, D, T>, OpError> {
    let (error, to) = (device_error::<D::Err>(op), or_unit_axis(to));
    let summed = x.axes().pick(|label| !to.contains(&label));
    let sizes = To::from_fn(|axis| x.axes().size(to[axis]));
    if summed.is_empty() {
        return broadcast(x, to, sizes).map_err(error);
    }
    if D::HAS_KERNELS {
        // A contraction with the number 1 reads `x` in place.
        let one: Tensor<[usize; 1], E, D> = x.tensor.device().try_ones_like(&[1]).map_err(&error)?;
        return contract_by_kernel(op, x, Labelled::new(one, &[]), to, &summed);
    }
    // The axes in the order of `to`, then those that are summed.
    let kept = to.iter().filter(|label| x.axes().has(**label));
    let order = axes_of(x.labels, &kept.chain(&summed).copied().collect::<Vec<_>>());
    let count = sizes.num_elements();
    let len = x.axes().len() / count.max(1);
    let compute = || {
        let rows = D::reshape(Views::permuted(x.tensor, order)?, (count, len))?;
        D::reshape(rows.try_sum::<(usize,), Axis<1>>()?, sizes)
    };
    compute().map_err(error)
}
