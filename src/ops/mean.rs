use super::unnamed::reshape_to;
use super::{OpError, Real, device_error, ensure_not_empty};
use crate::backend::{Backend, MiddleAxis, ReductionKind, Tape, reduce_kernel, run_kernel};
use crate::dims::WholeShape;
use dfdx::shapes::{HasShape, Rank0, Shape};
use dfdx::tensor::Tensor;
use dfdx::tensor_ops::MeanTo;

/// The mean of all elements: `(..) -> ()`.
///
/// ```
/// use typed_transformer::{ops::mean, prelude::*};
/// dims! { pub EmbedDim = 2; pub SeqLen = 2; }
/// let x: Tensor<(SeqLen, EmbedDim), f32, Cpu> = Cpu::default().tensor(vec![1.0, 2.0, 3.0, 6.0]);
/// assert_eq!(mean(x)?.array(), 3.0);
/// # Ok::<(), OpError>(())
/// ```
pub fn mean<Dims: WholeShape, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
) -> Result<Tensor<Rank0, E, D, T>, OpError> {
    const OP: &str = "mean";
    ensure_not_empty(OP, input.shape())?;
    if D::HAS_KERNELS {
        return reduce_all_by_kernel(OP, input, ReductionKind::Mean);
    }
    let count = input.shape().num_elements();
    // On a GPU, dfdx cannot sum a tensor without axes.
    reshape_to(OP, input, (count,))?.try_mean().map_err(device_error(OP))
}

/// The reduction of all elements by the device's kernel: `(..) -> ()`.
pub(super) fn reduce_all_by_kernel<Dims: Shape, E: Real, D: Backend<E>, T: Tape<E, D>>(
    op: &'static str,
    input: Tensor<Dims, E, D, T>,
    kind: ReductionKind,
) -> Result<Tensor<Rank0, E, D, T>, OpError> {
    let axis = MiddleAxis { outer: 1, len: input.shape().num_elements(), inner: 1 };
    run_kernel(op, (), T::default(), |tape| Ok(reduce_kernel(D::read(input, tape)?, axis, kind)?))
}
