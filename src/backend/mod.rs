//! Devices. The CPU in `f32` computes the operations of [`ops`](crate::ops) by kernels. The CPU in other dtypes, and
//! CUDA, run their definitions.
//!
//! An operation asks whether the device [has kernels](Backend::HAS_KERNELS). If so, `run_kernel` runs its kernel. If
//! not, its generic definition runs: the code after the `if`. Kernel and definition have the same result, dimensions
//! and errors, and tests compare the two. Layers and models do not ask, so what a user composes of operations
//! runs like them. The exception, which asks, is the linear map of a [packed](crate::nn::Packed) weight.
//! `linear_in_bf16` has a kernel only on a processor with fast instructions for it.

mod assign_positions;
mod cpu;
mod weight;

pub(crate) use assign_positions::assign_positions;
pub use typed_transformer_cpu::Tape;
pub(crate) use typed_transformer_cpu::*;
pub use weight::WeightTape;
pub(crate) use weight::{mark_used, read_weight, weight_on_tape};

use crate::dims::unnamed;
use crate::error::{OpError, device_error};
use crate::mask::bools_of;
use crate::real::Real;
use dfdx::dtypes::Dtype;
#[cfg(all(feature = "cuda", feature = "f16"))]
use dfdx::dtypes::{AMP, f16};
use dfdx::shapes::{HasShape, Shape};
#[cfg(feature = "cuda")]
use dfdx::tensor::Cuda;
use dfdx::tensor::{Cache, CpuError, Merge, PutTape, SplitTape, Tensor, TensorFromVec, TensorToArray};
use dfdx::tensor_ops::{Device, ReshapeTo, SumTo, TryAdd, TryMul, TrySub};

/// A device that runs modules. By default it has no kernels.
///
/// ```
/// use typed_transformer::{backend::Backend, prelude::*};
/// fn has_kernels<E: Real, D: Backend<E>>(_: &D) -> bool {
///     D::HAS_KERNELS
/// }
/// assert!(has_kernels::<f32, _>(&Cpu::default()));
/// assert!(!has_kernels::<f64, _>(&Cpu::default()));
/// ```
#[allow(clippy::missing_errors_doc)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a device that computes in `{E}`",
    label = "no operation runs in `{E}` on `{Self}`",
    note = "in generic code a device has the bound `Backend`: `fn f<E: Real, D: Backend<E>>`"
)]
pub trait Backend<E: Real>: Device<E> + TensorFromVec<bool> + Cache + TensorToArray<(), E, Array = E> {
    /// Whether operations run their kernels on this device. If not, nothing calls the methods that read operands and
    /// record kernels. It is a constant, so the compiler removes the branch that is never taken.
    const HAS_KERNELS: bool = false;

    /// Reads an operand of a kernel, in place if it is in row-major order and as a copy otherwise, and merges its tape
    /// into `tape`.
    #[doc(hidden)]
    fn read<Dims: Shape, T: Tape<E, Self> + Merge<R>, R: Tape<E, Self>>(
        _tensor: Tensor<Dims, E, Self, R>,
        _tape: &mut T,
    ) -> Result<Operand, CpuError> {
        unreachable!("the device has no kernels")
    }

    /// Reads a parameter of a model as [`read`](Self::read) does, and records on `tape` that it is read.
    #[doc(hidden)]
    fn read_parameter<Dims: Shape, T: Tape<E, Self>>(
        _parameter: &Tensor<Dims, E, Self>,
        _tape: &mut T,
    ) -> Result<Operand, CpuError> {
        unreachable!("the device has no kernels")
    }

    /// [`read`](Self::read) of an operand of any strides.
    #[doc(hidden)]
    fn read_strided<Dims: Shape, T: Tape<E, Self> + Merge<R>, R: Tape<E, Self>>(
        _tensor: Tensor<Dims, E, Self, R>,
        _tape: &mut T,
    ) -> Result<StridedOperand, CpuError> {
        unreachable!("the device has no kernels")
    }

    /// The elements in row-major order, over another shape.
    #[doc(hidden)]
    fn reshape<Dims: Shape, To: Shape, T: Tape<E, Self>>(
        tensor: Tensor<Dims, E, Self, T>,
        shape: To,
    ) -> Result<Tensor<To, E, Self, T>, Self::Err> {
        let (tensor, tape) = tensor.split_tape();
        if tensor.shape().num_elements() == 0 {
            // dfdx's copy of a permuted tensor reads the first element, even if there is none.
            return Ok(tensor.device().try_zeros_like(&shape)?.put_tape(tape));
        }
        let reshaped = tensor.clone().try_reshape_like(&shape)?;
        // A contiguous tensor is reshaped in place.
        if !T::OWNS_TAPE || tensor_id(&reshaped) == tensor_id(&tensor) {
            return Ok(reshaped.put_tape(tape));
        }
        // On a GPU, dfdx's backward pass of this copy leaves out gradients where the tensor repeats itself. Subtracting
        // zeros makes a row-major copy too, and the backward pass of a subtraction is right.
        let zeros = tensor.device().try_zeros_like(tensor.shape())?;
        tensor.put_tape(tape).try_sub(zeros)?.try_reshape_like(&shape)
    }

    /// Records the backward pass of a kernel. Its output gets `shape`.
    #[doc(hidden)]
    fn record_kernel<Dims: Shape, T: Tape<E, Self>>(
        _output: KernelOutput,
        _shape: Dims,
        _tape: T,
    ) -> Result<Tensor<Dims, E, Self, T>, CpuError> {
        unreachable!("the device has no kernels")
    }

    /// The elements of a tensor in row-major order; `None` if they have another order or lie in a GPU's memory.
    #[doc(hidden)]
    fn elements<S: Shape>(_: &Tensor<S, E, Self>) -> Option<&[E]> {
        None
    }

    /// The elements of a tensor in row-major order, to be changed in place; `None` if they have another order or lie in
    /// a GPU's memory.
    fn elements_mut<S: Shape>(_: &mut Tensor<S, E, Self>) -> Option<&mut [E]> {
        None
    }

    /// The elements of a mask in row-major order.
    #[doc(hidden)]
    fn bools<S: Shape>(mask: &Tensor<S, bool, Self>) -> Vec<bool> {
        bools_of(mask)
    }

    /// The gradient of a tensor in the order of its storage, zeros if there is none; `None` if it lies in a
    /// GPU's memory.
    #[doc(hidden)]
    fn gradient_mut<'a, S: Shape>(
        _gradients: &'a mut Gradients<E, Self>,
        _tensor: &Tensor<S, E, Self>,
    ) -> Result<Option<&'a mut [E]>, Self::Err> {
        Ok(None)
    }

    /// Lets the next training step reuse the memory of tensors that are dropped.
    #[doc(hidden)]
    fn reuse_memory(device: &Self) -> Result<(), Self::Err> {
        if typed_transformer_cpu::count_step() {
            device.try_empty_cache()?;
        }
        device.try_enable_cache()
    }

    /// One step of Adam on [elements in memory](Self::elements_mut), whose gradient is multiplied by a factor first.
    #[doc(hidden)]
    fn adam_step(step: &AdamStep<E>, factor: E, values: &mut [E], gradient: &[E], averages: [&mut [E]; 2]) {
        step.update(factor, values, gradient, averages);
    }

    /// Like [`adam_step`](Self::adam_step), of gradient descent with momentum.
    #[doc(hidden)]
    fn sgd_step(step: &SgdStep<E>, factor: E, values: &mut [E], gradient: &[E], velocity: &mut [E]) {
        step.update(factor, values, gradient, velocity);
    }

    /// `x ← α x + β y`.
    #[doc(hidden)]
    fn scale_and_add(
        x: &mut Tensor<(usize,), E, Self>,
        alpha: E,
        y: &Tensor<(usize,), E, Self>,
        beta: E,
    ) -> Result<(), Self::Err> {
        *x = x.clone().try_mul(alpha)?.try_add(y.clone().try_mul(beta)?)?;
        Ok(())
    }

    /// `Σ x²` of elements in memory, in `f64`.
    #[doc(hidden)]
    fn slice_sum_of_squares(elements: &[E]) -> f64 {
        typed_transformer_cpu::sum_of_squares(elements)
    }

    /// `Σ x²`.
    #[doc(hidden)]
    fn sum_of_squares(tensor: Tensor<(usize,), E, Self>) -> Result<SumOnDevice<E, Self>, Self::Err> {
        tensor.try_square()?.try_sum().map(SumOnDevice::Unread)
    }
}

/// A sum on a device.
#[doc(hidden)]
pub enum SumOnDevice<E: Real, D: Backend<E>> {
    Read(f64),
    /// Reading a number waits for a GPU, so several are read at once.
    Unread(Tensor<(), E, D>),
}

/// The elements of a tensor in row-major order. dfdx's `as_vec` reads them one by one, in ten times the time of a copy,
/// and panics on a tensor without elements, such as the rows of a rank that has none.
pub(crate) fn elements_of<Dims: Shape, E: Dtype, D: Device<E>>(tensor: &Tensor<Dims, E, D>) -> Vec<E> {
    elements_of_unnamed(unnamed(tensor.clone()))
}

fn elements_of_unnamed<Sizes: Shape, E: Dtype, D: Device<E>>(tensor: Tensor<Sizes, E, D>) -> Vec<E> {
    let mut elements = vec![E::default(); tensor.shape().num_elements()];
    if elements.is_empty() {
        return elements;
    }
    // A tensor in another order is copied first, for which there may be no memory.
    let Ok(flat) = tensor.clone().try_reshape_like(&(elements.len(),)) else { return tensor.as_vec() };
    flat.copy_into(&mut elements);
    elements
}

/// Runs a kernel and records its backward pass: the way of every operation to its kernel.
///
/// `run` reads the operands and calls the kernel. It gets the tape of the output, which is empty at first:
/// [`Backend::read`] merges an operand's tape into it; [`read_weight`] also takes a parameter, which has no tape. The
/// output gets `shape`. An error becomes an [`OpError`] of `op`.
pub(crate) fn run_kernel<Dims: Shape, E: Real, D: Backend<E>, T: Tape<E, D>>(
    op: &'static str,
    shape: Dims,
    run: impl FnOnce(&mut T) -> Result<KernelOutput, CpuError>,
) -> Result<Tensor<Dims, E, D, T>, OpError> {
    let mut tape = T::default();
    // `and_then` and its closure would be compiled for each operation and shape.
    let recorded = match run(&mut tape) {
        Ok(output) => D::record_kernel(output, shape, tape),
        Err(error) => Err(error),
    };
    recorded.map_err(device_error(op))
}

#[cfg(feature = "cuda")]
macro_rules! cuda_backend {
    ($dtype:ty) => {
        impl Backend<$dtype> for Cuda {
            fn scale_and_add(
                x: &mut Tensor<(usize,), $dtype, Self>,
                alpha: $dtype,
                y: &Tensor<(usize,), $dtype, Self>,
                beta: $dtype,
            ) -> Result<(), Self::Err> {
                x.try_axpy(alpha, y, beta)
            }
        }
    };
}
#[cfg(feature = "cuda")]
cuda_backend!(f32);
#[cfg(feature = "cuda")]
cuda_backend!(f64);
#[cfg(all(feature = "cuda", feature = "f16"))]
impl Backend<AMP<f16>> for Cuda {
    fn sum_of_squares(tensor: Tensor<(usize,), AMP<f16>, Self>) -> Result<SumOnDevice<AMP<f16>, Self>, Self::Err> {
        // The sum may not fit into 16 bits.
        let sum = tensor.try_to_dtype::<f32>()?.try_square()?.try_sum::<(), _>()?;
        Ok(SumOnDevice::Read(sum.as_vec()[0].into()))
    }
}
