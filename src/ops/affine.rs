use super::{OpError, Real, cast, unnamed::map};
use crate::backend::{Backend, Tape, affine_kernel, run_kernel};
use dfdx::shapes::{HasShape, Shape};
use dfdx::tensor::Tensor;
use dfdx::tensor_ops::{TryAdd, TryMul};

/// `factor · x`, element by element.
///
/// ```
/// use typed_transformer::{ops::scale, prelude::*};
/// let x: Tensor<(Const<2>,), f32, Cpu> = Cpu::default().tensor([1.0, 2.0]);
/// assert_eq!(scale(x, 1.5)?.array(), [1.5, 3.0]);
/// # Ok::<(), OpError>(())
/// ```
pub fn scale<Dims: Shape, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    factor: f64,
) -> Result<Tensor<Dims, E, D, T>, OpError> {
    const OP: &str = "scale";
    if D::HAS_KERNELS {
        let shape = *input.shape();
        return run_kernel(OP, shape, |tape| affine_kernel(D::read(input, tape)?, factor as f32, -0.0));
    }
    map(OP, input, |x| x.try_mul(cast::<E>(factor)))
}

/// `x + addend`, element by element.
///
/// ```
/// use typed_transformer::{ops::offset, prelude::*};
/// let x: Tensor<(Const<2>,), f32, Cpu> = Cpu::default().tensor([1.0, 2.0]);
/// assert_eq!(offset(x, 0.5)?.array(), [1.5, 2.5]);
/// # Ok::<(), OpError>(())
/// ```
pub fn offset<Dims: Shape, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    addend: f64,
) -> Result<Tensor<Dims, E, D, T>, OpError> {
    const OP: &str = "offset";
    if D::HAS_KERNELS {
        let shape = *input.shape();
        return run_kernel(OP, shape, |tape| affine_kernel(D::read(input, tape)?, 1.0, addend as f32));
    }
    map(OP, input, |x| x.try_add(cast::<E>(addend)))
}
