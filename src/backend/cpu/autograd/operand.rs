use super::Buffer;
use crate::backend::cpu::simd::add_assign;
use dfdx::{
    shapes::{HasShape, Shape},
    tensor::{Cpu, CpuError, Gradients, PutTape, SplitTape, Storage, Tape, Tensor, TensorFromVec},
    tensor_ops::ReshapeTo,
};
use std::mem;

/// A tensor without its dimensions: kernels are compiled once, not for every model.
pub type FlatTensor = Tensor<(usize,), f32, Cpu>;

/// The output of a kernel, and its backward pass.
pub type KernelOutput = (FlatTensor, Backward);
type Backward = Box<dyn FnOnce(&mut Gradients<f32, Cpu>) -> Result<(), CpuError>>;

/// A tensor, which identifies its gradient, and a copy of its elements. dfdx gives no access without a copy.
pub struct Operand {
    pub tensor: FlatTensor,
    pub elements: Buffer,
}

impl Operand {
    /// Reads a tensor, and merges its tape into `tape`.
    pub fn read<Dims: Shape, T: Tape<f32, Cpu>>(
        tensor: Tensor<Dims, f32, Cpu, T>,
        tape: &mut T,
    ) -> Result<Self, CpuError> {
        let len = tensor.shape().num_elements();
        let (tensor, tensor_tape) = tensor.try_reshape_like(&(len,))?.split_tape();
        *tape = mem::take(tape).merge(tensor_tape);
        Ok(Self::copy_of(tensor))
    }

    /// Reads a parameter of a model.
    pub fn read_parameter<Dims: Shape, T: Tape<f32, Cpu>>(
        tensor: &Tensor<Dims, f32, Cpu>,
        tape: &mut T,
    ) -> Result<Self, CpuError> {
        Self::read(tensor.retaped::<T>(), tape)
    }

    fn copy_of(tensor: FlatTensor) -> Self {
        let mut elements = Buffer::recycled(tensor.shape().num_elements());
        tensor.copy_into(&mut elements);
        Self { tensor, elements }
    }

    /// Memory for an output of `len` elements, from the cache of the operand's device.
    pub fn alloc_output(&self, len: usize) -> Result<Vec<f32>, CpuError> {
        let mut allocation = self.tensor.device().try_alloc_len(len)?;
        let memory = mem::take(&mut *allocation);
        // The allocation is empty now. Dropping it would add an empty vector to the device's cache.
        mem::forget(allocation);
        Ok(memory)
    }

    /// A tensor of these elements on the operand's device.
    pub fn new_tensor(&self, elements: Vec<f32>) -> Result<FlatTensor, CpuError> {
        let shape = (elements.len(),);
        self.tensor.device().try_tensor_from_vec(elements, shape)
    }

    /// Takes the gradient accumulated so far, because dfdx lends only one gradient at a time.
    /// [`put_gradient`](Self::put_gradient) must follow.
    pub fn take_gradient(&self, gradients: &mut Gradients<f32, Cpu>) -> Result<Vec<f32>, CpuError> {
        Ok(mem::take(gradients.get_or_alloc_mut(&self.tensor)?))
    }

    /// Puts back a gradient that [`take_gradient`](Self::take_gradient) took.
    pub fn put_gradient(&self, gradients: &mut Gradients<f32, Cpu>, gradient: Vec<f32>) -> Result<(), CpuError> {
        **gradients.get_or_alloc_mut(&self.tensor)? = gradient;
        Ok(())
    }

    /// Adds `part` to the gradient. Parts are added one after the other, because two operands of a
    /// kernel may be the same tensor.
    pub fn accumulate_gradient(&self, gradients: &mut Gradients<f32, Cpu>, part: &[f32]) -> Result<(), CpuError> {
        add_assign(gradients.get_or_alloc_mut(&self.tensor)?, part);
        Ok(())
    }
}

/// Pairs an output with its backward pass, which receives the gradient of the output.
pub fn with_backward(
    output: FlatTensor,
    backward: impl FnOnce(&[f32], &mut Gradients<f32, Cpu>) -> Result<(), CpuError> + 'static,
) -> KernelOutput {
    let slot = output.ghost();
    let backward = move |gradients: &mut Gradients<f32, Cpu>| {
        let d_output = mem::take(&mut **gradients.get_or_alloc_mut(&slot)?);
        backward(&d_output, gradients)?;
        **gradients.get_or_alloc_mut(&slot)? = d_output;
        Ok(())
    };
    (output, Box::new(backward))
}

/// Runs a kernel and records its backward pass. The output gets `shape`, and a tape that merges the tapes of
/// all tensors read by `run`.
pub fn record_kernel<Dims: Shape, T: Tape<f32, Cpu>>(
    shape: Dims,
    mut tape: T,
    run: impl FnOnce(&mut T) -> Result<KernelOutput, CpuError>,
) -> Result<Tensor<Dims, f32, Cpu, T>, CpuError> {
    let (output, backward) = run(&mut tape)?;
    tape.add_backward_op(backward);
    Ok(output.try_reshape_like(&shape)?.put_tape(tape))
}
