use super::gradients::{Gradients, KernelKey};
use super::output_memory::alloc_output;
use super::shared_tape::{SharedTape, Tape};
use super::storage::{contiguous, elements, flat_view};
use super::unnamed::{Unnamed, named, unnamed};
use super::{Buffer, partition_elements};
use dfdx::shapes::{HasShape, Shape};
use dfdx::tensor::{Cpu, CpuError, Merge, PutTape, SplitTape, Tensor, TensorFromVec};
use dfdx::tensor_ops::ReshapeTo;
use std::mem;

/// A tensor without its dimensions: kernels are compiled once, not for every model.
pub type FlatTensor = Tensor<(usize,), f32, Cpu>;

/// The output of a kernel, and its backward pass, which gets the gradient of the output.
pub type KernelOutput = (FlatTensor, KernelBackward);
type KernelBackward = Box<dyn FnOnce(Buffer, &mut KernelGradients)>;

/// The gradients that a kernel adds to.
pub type KernelGradients = Gradients<f32, Cpu>;

/// A row-major tensor that a kernel reads.
#[derive(Clone)]
pub struct Operand {
    pub tensor: FlatTensor,
    pub gradient: GradientTarget,
}

/// The place of an operand's gradient among those of a pass; `None` if nothing is recorded.
#[derive(Clone)]
pub struct GradientTarget(Option<KernelKey>);

impl GradientTarget {
    /// Adds a term.
    pub fn add(&self, gradients: &mut KernelGradients, term: Buffer) {
        if let Some(key) = &self.0 {
            gradients.add(key, term);
        }
    }

    /// Adds the parts of a term.
    pub fn add_parts(&self, gradients: &mut KernelGradients, parts: Vec<Buffer>) {
        if let Some(key) = &self.0 {
            gradients.add_parts(key, parts);
        }
    }

    /// Calls `write(gradient, accumulate)`, which writes `len` elements, or adds to them if `accumulate`.
    pub fn write(&self, gradients: &mut KernelGradients, len: usize, write: impl FnOnce(&mut [f32], bool)) {
        if let Some(key) = &self.0 {
            gradients.write(key, len, write);
        }
    }

    /// Calls `add`, which adds to `len` elements.
    pub fn add_with(&self, gradients: &mut KernelGradients, len: usize, add: impl FnOnce(&mut [f32])) {
        self.write(gradients, len, |gradient, accumulate| {
            if !accumulate {
                partition_elements(len, 0).map_mut(gradient, 1, |_, gradient| gradient.fill(0.0));
            }
            add(gradient);
        });
    }
}

impl Operand {
    /// Reads a tensor, and merges its tape into `tape`.
    pub fn read<Dims: Shape, T: Tape<f32, Cpu> + Merge<R>, R: Tape<f32, Cpu>>(
        tensor: Tensor<Dims, f32, Cpu, R>,
        tape: &mut T,
    ) -> Result<Self, CpuError> {
        Self::read_flat(contiguous(tensor)?, tape)
    }

    fn read_flat<T: Tape<f32, Cpu> + Merge<R>, R: Tape<f32, Cpu>>(
        tensor: Tensor<(usize,), f32, Cpu, R>,
        tape: &mut T,
    ) -> Result<Self, CpuError> {
        let tensor = move_tape(tensor, tape);
        let gradient = GradientTarget(R::OWNS_TAPE.then(|| KernelKey::of(&tensor)));
        Ok(Self { tensor, gradient })
    }

    /// Reads a parameter of a model, and records on `tape` that it is read.
    pub fn read_parameter<Dims: Shape, T: Tape<f32, Cpu>>(
        tensor: &Tensor<Dims, f32, Cpu>,
        tape: &mut T,
    ) -> Result<Self, CpuError> {
        Self::read_unnamed_parameter(unnamed(tensor.clone()), tape)
    }

    fn read_unnamed_parameter<Sizes: Shape, T: Tape<f32, Cpu>>(
        tensor: Tensor<Sizes, f32, Cpu>,
        tape: &mut T,
    ) -> Result<Self, CpuError> {
        let Some(tensor) = flat_view(&tensor)? else {
            // The kernel reads a copy, whose backward pass adds to the parameter's gradient.
            return Self::read(tensor.retaped::<T>(), tape);
        };
        let key = tape.shared().map(|tape| {
            let key = KernelKey::of(&tensor);
            tape.record_read(&key);
            key
        });
        Ok(Self { tensor, gradient: GradientTarget(key) })
    }

    /// A tensor whose gradient is not asked for.
    pub fn without_gradient(tensor: &FlatTensor) -> Self {
        Self { tensor: tensor.clone(), gradient: GradientTarget(None) }
    }

    /// The elements in the tensor's storage.
    pub fn elements(&self) -> &[f32] {
        elements(&self.tensor).expect("`read` makes the tensor contiguous")
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.tensor.shape().0
    }

    /// Memory for an output of `len` elements, whose contents are arbitrary, on the operand's device.
    pub fn alloc_output(&self, len: usize) -> Result<Vec<f32>, CpuError> {
        alloc_output(self.tensor.device(), len)
    }

    /// A tensor of these elements on the operand's device.
    pub fn new_tensor(&self, elements: Vec<f32>) -> Result<FlatTensor, CpuError> {
        let shape = (elements.len(),);
        self.tensor.device().try_tensor_from_vec(elements, shape)
    }
}

/// The tensor alone: its tape is merged into `tape`.
pub fn move_tape<Dims: Shape, T: Tape<f32, Cpu> + Merge<R>, R: Tape<f32, Cpu>>(
    tensor: Tensor<Dims, f32, Cpu, R>,
    tape: &mut T,
) -> Tensor<Dims, f32, Cpu> {
    let (tensor, tensor_tape) = tensor.split_tape();
    *tape = mem::take(tape).merge(tensor_tape);
    tensor
}

/// Pairs an output with its backward pass, which receives the gradient of the output.
pub fn with_backward(
    output: FlatTensor,
    backward: impl FnOnce(Buffer, &mut KernelGradients) + 'static,
) -> KernelOutput {
    (output, Box::new(backward))
}

/// Records the backward pass of a kernel. Its output gets `shape`, and `tape`, which merges the tapes of all operands.
pub fn record_kernel<Dims: Shape, T: Tape<f32, Cpu>>(
    output: KernelOutput,
    shape: Dims,
    mut tape: T,
) -> Result<Tensor<Dims, f32, Cpu, T>, CpuError> {
    let output = record_and_reshape(tape.shared(), output, Unnamed::new(shape.concrete()))?;
    Ok(named(output).put_tape(tape))
}

/// Records the backward pass on `tape`, if there is one. The output gets `sizes`.
fn record_and_reshape<Sizes: Shape>(
    tape: Option<&mut SharedTape<f32, Cpu>>,
    (output, backward): KernelOutput,
    sizes: Sizes,
) -> Result<Tensor<Sizes, f32, Cpu>, CpuError> {
    if let Some(tape) = tape {
        record_backward(&output, backward, tape);
    }
    output.try_reshape_like(&sizes)
}

fn record_backward(output: &FlatTensor, backward: KernelBackward, tape: &mut SharedTape<f32, Cpu>) {
    let key = KernelKey::of(output);
    tape.add_backward_of_kernel(Box::new(move |pass| {
        // The loss does not depend on an output without a gradient.
        if let Some(d_output) = pass.take(&key)? {
            backward(d_output, &mut pass.gradients);
        }
        Ok(())
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use dfdx::shapes::Rank2;
    use dfdx::tensor::{NoneTape, SampleTensor};

    fn read<S: Shape>(tensor: &Tensor<S, f32, Cpu>) -> Operand {
        Operand::read(tensor.clone(), &mut NoneTape).unwrap()
    }

    #[test]
    fn a_contiguous_tensor_is_read_in_place() {
        let tensor: Tensor<Rank2<3, 4>, f32, _> = Cpu::default().sample_normal();
        assert!(std::ptr::eq(read(&tensor).elements().as_ptr(), &raw const tensor[[0, 0]]));
    }

    #[test]
    fn writing_to_the_tensor_does_not_change_an_operand() {
        let mut tensor: Tensor<Rank2<2, 2>, f32, _> = Cpu::default().sample_normal();
        let before = tensor.as_vec();
        let operand = read(&tensor);
        let elements = operand.elements();
        tensor.copy_from(&[1.0, 2.0, 3.0, 4.0]);
        tensor[[0, 1]] = 7.0;
        assert_eq!(elements, before);
        assert_eq!(read(&tensor).elements(), [1.0, 7.0, 3.0, 4.0]);
    }
}
