use super::{gradient_hook, storage, unnamed};
use crate::simd::add_assign;
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

/// A tensor that a kernel reads in place. Its tensor's id is the key of its gradient.
pub struct Operand {
    pub tensor: FlatTensor,
}

impl Operand {
    /// Reads a tensor, and merges its tape into `tape`.
    pub fn read<Dims: Shape, T: Tape<f32, Cpu>>(
        tensor: Tensor<Dims, f32, Cpu, T>,
        tape: &mut T,
    ) -> Result<Self, CpuError> {
        let len = tensor.shape().num_elements();
        // This shares the storage of a contiguous tensor, and copies any other into new storage.
        let (tensor, tensor_tape) = unnamed(tensor).try_reshape_like(&(len,))?.split_tape();
        *tape = mem::take(tape).merge(tensor_tape);
        Ok(Self { tensor })
    }

    /// Reads a parameter of a model.
    pub fn read_parameter<Dims: Shape, T: Tape<f32, Cpu>>(
        tensor: &Tensor<Dims, f32, Cpu>,
        tape: &mut T,
    ) -> Result<Self, CpuError> {
        let operand = Self::read(tensor.retaped::<T>(), tape)?;
        let address = operand.address();
        if T::OWNS_TAPE && gradient_hook::is_first_read(address) {
            let parameter = operand.tensor.clone();
            tape.add_backward_op(move |gradients| {
                gradient_hook::gradient_is_complete(address, gradients.get_or_alloc_mut(&parameter)?);
                Ok(())
            });
        }
        Ok(operand)
    }

    /// The address of the elements.
    pub fn address(&self) -> usize {
        self.elements().as_ptr().addr()
    }

    /// The elements in the tensor's storage.
    pub fn elements(&self) -> &[f32] {
        storage::elements(&self.tensor).expect("`read` makes the tensor contiguous")
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.tensor.shape().0
    }

    /// Memory for an output of `len` elements, from the cache of the operand's device.
    pub fn alloc_output(&self, len: usize) -> Result<Vec<f32>, CpuError> {
        alloc_output(self.tensor.device(), len)
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

/// Memory for an output of `len` elements, from the cache of `device`.
pub fn alloc_output(device: &Cpu, len: usize) -> Result<Vec<f32>, CpuError> {
    let mut allocation = device.try_alloc_len(len)?;
    let memory = mem::take(&mut *allocation);
    // Dropping the emptied allocation would put an empty vector into the device's cache at each call, so it is
    // forgotten. This leaks one reference to the cache: the cache and its memory live until the program ends.
    mem::forget(allocation);
    Ok(memory)
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

#[cfg(test)]
mod tests {
    use super::*;
    use dfdx::{
        shapes::{Axes2, Axis, Rank1, Rank2},
        tensor::{NoneTape, SampleTensor, ZerosTensor},
        tensor_ops::{BroadcastTo, PermuteTo},
    };

    fn read<S: Shape>(tensor: &Tensor<S, f32, Cpu>) -> Operand {
        Operand::read(tensor.clone(), &mut NoneTape).unwrap()
    }

    #[test]
    fn elements_are_those_of_the_tensor() {
        fn check<S: Shape>(tensor: Tensor<S, f32, Cpu>) {
            assert_eq!(read(&tensor).elements(), tensor.as_vec());
            assert_eq!(read(&tensor).len(), tensor.shape().num_elements());
        }
        let device = Cpu::default();
        let matrix: Tensor<Rank2<3, 4>, f32, _> = device.sample_normal();
        let square: Tensor<Rank2<3, 3>, f32, _> = device.sample_normal();
        let row: Tensor<Rank1<4>, f32, _> = device.sample_normal();
        check(matrix.clone());
        check(matrix.clone().permute::<Rank2<4, 3>, _>());
        check(square.clone());
        check(square.permute::<_, Axes2<1, 0>>());
        check(row.clone().broadcast::<Rank2<3, 4>, Axis<0>>());
        check(row.broadcast::<Rank2<4, 5>, Axis<1>>());
        check(device.sample_normal::<Rank1<1>>().broadcast::<Rank2<1, 1>, Axis<0>>());
        check(device.sample_normal::<Rank1<1>>());
        // dfdx's `as_vec` panics on a tensor without elements.
        assert!(read(&device.zeros::<Rank1<0>>()).elements().is_empty());
        assert!(read(&device.zeros::<Rank2<3, 0>>()).elements().is_empty());
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
