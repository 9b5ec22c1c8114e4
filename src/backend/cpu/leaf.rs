use super::buffer::Buffer;
use dfdx::{
    shapes::{HasShape, Shape},
    tensor::{Cpu, CpuError, Gradients, SplitTape, Storage, Tape, Tensor, TensorFromVec},
    tensor_ops::ReshapeTo,
};
use std::mem;

/// A tensor without its dimensions: kernels are compiled once and not for every model.
pub type Flat = Tensor<(usize,), f32, Cpu>;

/// What a kernel puts out, and what it does when gradients flow back.
pub type Output = (Flat, Backward);
type Backward = Box<dyn FnOnce(&mut Gradients<f32, Cpu>) -> Result<(), CpuError>>;

/// What a kernel reads: a tensor, of which dfdx gives out copies only, and one.
pub struct Leaf {
    pub tensor: Flat,
    pub elements: Buffer,
}

impl Leaf {
    /// `tape` takes on what is recorded on the tensor's own.
    pub fn read<Dims: Shape, T: Tape<f32, Cpu>>(
        tensor: Tensor<Dims, f32, Cpu, T>,
        tape: &mut T,
    ) -> Result<Self, CpuError> {
        let elements = tensor.shape().num_elements();
        let (tensor, own_tape) = tensor.try_reshape_like(&(elements,))?.split_tape();
        *tape = mem::take(tape).merge(own_tape);
        Ok(Self::of(tensor))
    }

    fn of(tensor: Flat) -> Self {
        let mut elements = Buffer::new(tensor.shape().num_elements());
        tensor.copy_into(&mut elements);
        Self { tensor, elements }
    }

    /// A parameter.
    pub fn parameter<Dims: Shape, T: Tape<f32, Cpu>>(
        tensor: &Tensor<Dims, f32, Cpu>,
        tape: &mut T,
    ) -> Result<Self, CpuError> {
        Self::read(tensor.retaped::<T>(), tape)
    }

    /// Memory for the elements of a tensor beside it: that of another that is gone, if the device keeps
    /// such.
    pub fn room(&self, elements: usize) -> Result<Vec<f32>, CpuError> {
        let mut memory = self.tensor.device().try_alloc_len(elements)?;
        let room = mem::take(&mut *memory);
        // What is left of it has no elements, and would be kept as such, one more each time.
        mem::forget(memory);
        Ok(room)
    }

    /// A tensor beside it.
    pub fn beside(&self, elements: Vec<f32>) -> Result<Flat, CpuError> {
        let shape = (elements.len(),);
        self.tensor.device().try_tensor_from_vec(elements, shape)
    }

    /// Its gradient so far, to be put back: dfdx lends one at a time.
    pub fn take(&self, gradients: &mut Gradients<f32, Cpu>) -> Result<Vec<f32>, CpuError> {
        Ok(mem::take(gradients.get_or_alloc_mut(&self.tensor)?))
    }

    /// Puts back what was taken.
    pub fn put(&self, gradients: &mut Gradients<f32, Cpu>, gradient: Vec<f32>) -> Result<(), CpuError> {
        **gradients.get_or_alloc_mut(&self.tensor)? = gradient;
        Ok(())
    }

    /// Zeros for a part of its gradient.
    pub fn zeros(&self) -> Buffer {
        Buffer::zeros(self.elements.len())
    }

    /// Adds a part of its gradient. Parts are added one after the other, since two leaves of a kernel
    /// may be one tensor.
    pub fn add(&self, gradients: &mut Gradients<f32, Cpu>, part: &[f32]) -> Result<(), CpuError> {
        super::add_assign(gradients.get_or_alloc_mut(&self.tensor)?, part);
        Ok(())
    }
}
