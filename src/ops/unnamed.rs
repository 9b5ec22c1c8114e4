//! The operations of which others are made. They run kernels, functions of the elements, or operations of dfdx.
//!
//! The compiler makes code for each shape type that an operation of dfdx is called with. So these functions take named
//! dimensions and call dfdx with plain sizes: its code is made once for each number of axes.

use super::contraction::{Labelled, contract};
use super::operand::copied_if_same;
use super::views::with_shape_type;
use super::{OpError, Real, device_error};
use crate::backend::{Backend, Tape, elements_of, run_kernel, where_kernel};
use crate::dims;
use crate::dims::{AnyDim, EndsIn, Unnamed, UnnamedTensor, unnamed};
use dfdx::shapes::{Axes4, Axis, BroadcastShapeTo, Dim, HasShape, Shape};
use dfdx::tensor::{Merge, PutTape, SplitTape, Tensor};
use dfdx::tensor_ops::{BroadcastTo, ChooseFrom, Device, PermuteTo, ReshapeTo, TryAdd};
use rand::{Rng, distributions::Distribution};
use std::{cell::RefCell, vec::IntoIter};

/// `compute` of each element by itself.
pub fn map<Dims: Shape, E: Real, D: Device<E>, T: Tape<E, D>>(
    op: &'static str,
    x: Tensor<Dims, E, D, T>,
    compute: impl FnOnce(UnnamedTensor<Dims, E, D, T>) -> Result<UnnamedTensor<Dims, E, D, T>, D::Err>,
) -> Result<Tensor<Dims, E, D, T>, OpError> {
    with_shape_type(op, compute(unnamed(x)).map_err(device_error(op))?)
}

/// `compute` of two elements in the same place.
pub fn zip<Dims: Shape, E: Real, D: Device<E>, T: Tape<E, D>, R: Tape<E, D>>(
    op: &'static str,
    x: Tensor<Dims, E, D, T>,
    y: Tensor<Dims, E, D, R>,
    compute: impl FnOnce(
        UnnamedTensor<Dims, E, D, T>,
        UnnamedTensor<Dims, E, D, R>,
    ) -> Result<UnnamedTensor<Dims, E, D, T>, D::Err>,
) -> Result<Tensor<Dims, E, D, T>, OpError> {
    with_shape_type(op, compute(unnamed(x), unnamed(y)).map_err(device_error(op))?)
}

/// `forward` of the elements of `x`, in row-major order. It records `backward`, which makes the gradient of `x` from that
/// of the result, or `None` if there is none.
pub fn on_elements<From: Shape, To: Shape, E: Real, D: Device<E>, T: Tape<E, D>>(
    op: &'static str,
    x: Tensor<From, E, D, T>,
    shape: To,
    forward: impl FnOnce(Vec<E>) -> Result<Vec<E>, OpError>,
    backward: impl FnOnce(Vec<E>) -> Option<Vec<E>> + 'static,
) -> Result<Tensor<To, E, D, T>, OpError> {
    let (x, tape) = on_one_axis(unnamed(x)).map_err(device_error(op))?.split_tape();
    let y = forward(elements_of(&x))?;
    let y = record_elements(x, y, tape, Box::new(backward)).map_err(device_error(op))?;
    with_shape_type(op, y.try_reshape_like(&Unnamed::new(shape.concrete())).map_err(device_error(op))?)
}

/// The elements of `x` over one axis. A contiguous tensor shares its storage. Any other is copied, so that a gradient is
/// in the same order.
fn on_one_axis<Sizes: Shape, E: Real, D: Device<E>, T: Tape<E, D>>(
    x: Tensor<Sizes, E, D, T>,
) -> Result<Tensor<(usize,), E, D, T>, D::Err> {
    let len = x.shape().num_elements();
    if len == 0 {
        // dfdx's copy of a permuted tensor reads the first element, even if there is none.
        let (x, tape) = x.split_tape();
        return Ok(x.device().try_zeros_like(&(len,))?.put_tape(tape));
    }
    x.try_reshape_like(&(len,))
}

/// `y` as a tensor on `tape`, which records `backward`.
fn record_elements<E: Real, D: Device<E>, T: Tape<E, D>>(
    x: Tensor<(usize,), E, D>,
    y: Vec<E>,
    mut tape: T,
    backward: Box<dyn FnOnce(Vec<E>) -> Option<Vec<E>>>,
) -> Result<Tensor<(usize,), E, D, T>, D::Err> {
    let len = y.len();
    let y = x.device().try_tensor_from_vec(y, (len,))?;
    if T::OWNS_TAPE {
        let (x, y, device) = (x.ghost(), y.ghost(), x.device().clone());
        tape.add_backward_op(move |gradients| {
            gradients.try_alloc_for(&x)?;
            gradients.try_alloc_for(&y)?;
            let Some(term) = backward(elements_of(&gradients.get(&y))) else { return Ok(()) };
            let so_far = elements_of(&gradients.get(&x));
            let sum: Vec<E> = so_far.into_iter().zip(term).map(|(so_far, term)| so_far + term).collect();
            device.try_fill_with_distr(gradients.get_or_alloc_mut(&x)?, Successive(RefCell::new(sum.into_iter())))
        });
    }
    Ok(y.put_tape(tape))
}

/// A distribution that returns given numbers in their order. Drawing random numbers is how dfdx writes into a gradient
/// on every device.
struct Successive<E>(RefCell<IntoIter<E>>);

impl<E: Real> Distribution<E> for Successive<E> {
    fn sample<R: Rng + ?Sized>(&self, _: &mut R) -> E {
        self.0.borrow_mut().next().unwrap_or_else(E::nan)
    }
}

/// The elements of `x` in row-major order, over another shape.
pub fn reshape_to<Dims: Shape, To: Shape, E: Real, D: Backend<E>, T: Tape<E, D>>(
    op: &'static str,
    x: Tensor<Dims, E, D, T>,
    shape: To,
) -> Result<Tensor<To, E, D, T>, OpError> {
    with_shape_type(op, D::reshape(unnamed(x), Unnamed::new(shape.concrete())).map_err(device_error(op))?)
}

dims! {
    /// The vectors of a tensor, one at each position.
    pub Rows;
}

/// The vectors of the last axis as the rows of a matrix: `(.., M) -> (Rows, M)`.
pub fn rows<Dims: EndsIn<M>, M: AnyDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    op: &'static str,
    x: Tensor<Dims, E, D, T>,
) -> Result<Tensor<(Rows, M), E, D, T>, OpError> {
    let width = x.shape().last();
    let rows = Rows::new(x.shape().num_elements() / width.size().max(1));
    reshape_to(op, x, (rows, width))
}

/// `x y` of the matrices in the last two axes: `(B, H, Q, K), (B, H, K, M) -> (B, H, Q, M)`.
pub fn matmul<B: Dim, H: Dim, Q: Dim, K: Dim, M: Dim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    op: &'static str,
    x: Tensor<(B, H, Q, K), E, D, T>,
    y: Tensor<(B, H, K, M), E, D, T>,
) -> Result<Tensor<(B, H, Q, M), E, D, T>, OpError> {
    let (x, y) = (with_shape_type(op, x)?, with_shape_type(op, y)?);
    product(op, x, Labelled::new(y, &[0, 1, 3, 4]))
}

/// `x yᵀ` of the matrices in the last two axes: `(B, H, Q, M), (B, H, K, M) -> (B, H, Q, K)`.
pub fn matmul_transposed<B: Dim, H: Dim, Q: Dim, K: Dim, M: Dim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    op: &'static str,
    x: Tensor<(B, H, Q, M), E, D, T>,
    y: Tensor<(B, H, K, M), E, D, T>,
) -> Result<Tensor<(B, H, Q, K), E, D, T>, OpError> {
    let (x, y) = (with_shape_type(op, x)?, with_shape_type(op, y)?);
    product(op, x, Labelled::new(y, &[0, 1, 4, 3]))
}

/// The matrices `x`, whose axes have the labels 0 to 3, times `y`, whose columns have the label 4.
fn product<Dims: Shape<Concrete = [usize; 4]>, E: Real, D: Backend<E>, T: Tape<E, D>>(
    op: &'static str,
    x: Tensor<[usize; 4], E, D, T>,
    y: Labelled<[usize; 4], E, D, T>,
) -> Result<Tensor<Dims, E, D, T>, OpError> {
    let product: Tensor<[usize; 4], E, D, T> = contract(op, Labelled::new(x, &[0, 1, 2, 3]), y, &[0, 1, 2, 4])?;
    with_shape_type(op, product)
}

/// `x yᵀ` of two matrices: `(P, M), (N, M) -> (P, N)`.
pub fn matmul_2d_transposed<P: Dim, M: Dim, N: Dim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    op: &'static str,
    x: Tensor<(P, M), E, D, T>,
    y: Tensor<(N, M), E, D, T>,
) -> Result<Tensor<(P, N), E, D, T>, OpError> {
    let x = Labelled::<[usize; 2], _, _, _>::new(with_shape_type(op, x)?, &[0, 1]);
    let y = Labelled::<[usize; 2], _, _, _>::new(with_shape_type(op, y)?, &[2, 1]);
    with_shape_type::<[usize; 2], _, _, _, _>(op, contract(op, x, y, &[0, 2])?)
}

type Four = (usize, usize, usize, usize);

/// The second and the third axis change places: `(B, S, H, M) -> (B, H, S, M)`.
pub fn swap_middle<B: Dim, S: Dim, H: Dim, M: Dim, E: Real, D: Device<E>, T: Tape<E, D>>(
    op: &'static str,
    x: Tensor<(B, S, H, M), E, D, T>,
) -> Result<Tensor<(B, H, S, M), E, D, T>, OpError> {
    let x: Tensor<Four, E, D, T> = with_shape_type(op, x)?;
    with_shape_type(op, x.try_permute::<Four, Axes4<0, 2, 1, 3>>().map_err(device_error(op))?)
}

/// A number as a tensor.
pub fn constant<Dims: Shape, E: Real, D: Backend<E>, T: Tape<E, D>>(
    op: &'static str,
    number: E,
    shape: &Dims,
    device: &D,
) -> Result<Tensor<Dims, E, D, T>, OpError> {
    let compute = || match D::HAS_KERNELS {
        true => device.try_tensor_from_vec(vec![number], ())?.try_broadcast_like(shape),
        // Not a repeated number: a GPU would add the gradients of all elements to its own, one after the other.
        false => device.try_zeros_like(shape)?.try_add(number),
    };
    Ok(compute().map_err(device_error::<D::Err>(op))?.retaped::<T>())
}

/// A mask that repeats itself along an axis of `shape`. Kernels read its elements one after the other; a device without
/// kernels gets a view.
pub fn repeated<E: Real, const AXIS: isize, Own, Dims: Shape, D: Backend<E>>(
    op: &'static str,
    mask: Tensor<Own, bool, D>,
    shape: &Dims,
) -> Result<Tensor<Dims, bool, D>, OpError>
where
    Own: Shape + BroadcastShapeTo<Dims, Axis<AXIS>>,
{
    if !D::HAS_KERNELS {
        return mask.try_broadcast_like::<_, Axis<AXIS>>(shape).map_err(device_error(op));
    }
    let (axis, sizes): (usize, Vec<usize>) = (AXIS.unsigned_abs(), shape.concrete().into());
    let run_len = sizes[axis + 1..].iter().product::<usize>().max(1);
    let mut elements = Vec::with_capacity(shape.num_elements());
    D::bools(&mask).chunks(run_len).for_each(|run| elements.extend_from_slice(&run.repeat(sizes[axis])));
    mask.device().try_tensor_from_vec(elements, *shape).map_err(device_error(op))
}

/// `x` where `mask` holds, `y` elsewhere.
pub fn choose<Dims: Shape, E: Real, D: Backend<E>, T: Tape<E, D> + Merge<R>, R: Tape<E, D>>(
    op: &'static str,
    mask: Tensor<Dims, bool, D>,
    x: Tensor<Dims, E, D, T>,
    y: Tensor<Dims, E, D, R>,
) -> Result<Tensor<Dims, E, D, T>, OpError> {
    if D::HAS_KERNELS {
        let (shape, mask) = (*x.shape(), D::bools(&mask));
        return run_kernel(op, shape, |tape| {
            let x = D::read(x, tape)?;
            where_kernel(mask, x, D::read(y, tape)?)
        });
    }
    if x.shape().num_elements() == 0 {
        // dfdx chooses at least one element.
        return Ok(x);
    }
    let y = copied_if_same(&x, y)?;
    with_shape_type(op, unnamed(mask).try_choose(unnamed(x), unnamed(y)).map_err(device_error(op))?)
}
