use super::operand::{FlatTensor, alloc_output};
use dfdx::{
    shapes::HasShape,
    tensor::{Cpu, CpuError, Gradients, Tensor, TensorFromVec},
};
use std::{mem, slice};

/// The number of axes of a [`View`]; a tensor with fewer has axes of size 1 before its own.
pub const AXES: usize = 6;

/// A tensor that a kernel reads in place, whatever its strides are. Its tensor's id is the key of its gradient.
pub struct View {
    tensor: Tensor<[usize; AXES], f32, Cpu>,
    strides: [usize; AXES],
}

impl View {
    /// Reads a tensor that has elements.
    ///
    /// # Panics
    /// If the tensor has no elements.
    pub fn new(tensor: Tensor<[usize; AXES], f32, Cpu>) -> Self {
        let first: *const f32 = &tensor[[0; AXES]];
        // dfdx does not show the strides, but it lends each element.
        let stride = |axis: usize| {
            let mut index = [0; AXES];
            index[axis] = 1;
            match tensor.shape()[axis] {
                1 => 0,
                _ => ((&raw const tensor[index]).addr() - first.addr()) / size_of::<f32>(),
            }
        };
        Self { strides: std::array::from_fn(stride), tensor }
    }

    /// The stride of an axis, in elements; 0 if the axis has one element, or repeats one.
    pub fn stride(&self, axis: usize) -> usize {
        self.strides[axis]
    }

    /// The elements in the tensor's storage, from the first to the last of the view.
    pub fn storage(&self) -> &[f32] {
        let last = self.tensor.shape().map(|size| size - 1);
        let offset: usize = last.iter().zip(self.strides).map(|(index, stride)| index * stride).sum();
        let (first, last) = (&raw const self.tensor[[0; AXES]], &raw const self.tensor[last]);
        assert_eq!(last, first.wrapping_add(offset), "the tensor has other strides");
        #[allow(unsafe_code, reason = "dfdx lends single elements only")]
        // SAFETY: indexing checked that `first` and `last` are elements of the tensor's storage, a `Vec<f32>`, and
        // `last` is `offset` elements after `first`. So all elements between them are initialized elements of this
        // storage. The tensor keeps the storage alive, and it is borrowed as long as the slice. dfdx writes to a
        // storage through `Arc::make_mut` or before it is shared, so another tensor with this storage gets its own
        // copy before a write. The pointer comes from a reference to one element; that it may reach the others is what
        // Tree Borrows allows, and Stacked Borrows does not.
        unsafe {
            slice::from_raw_parts(first, offset + 1)
        }
    }

    /// Memory for an output of `len` elements, from the cache of the tensor's device.
    pub fn alloc_output(&self, len: usize) -> Result<Vec<f32>, CpuError> {
        alloc_output(self.tensor.device(), len)
    }

    /// A tensor of these elements on the tensor's device.
    pub fn new_tensor(&self, elements: Vec<f32>) -> Result<FlatTensor, CpuError> {
        let shape = (elements.len(),);
        self.tensor.device().try_tensor_from_vec(elements, shape)
    }

    /// Takes the gradient accumulated so far, which has the layout of the tensor's storage, because dfdx lends only one
    /// gradient at a time. [`put_gradient`](Self::put_gradient) must follow.
    pub fn take_gradient(&self, gradients: &mut Gradients<f32, Cpu>) -> Result<Vec<f32>, CpuError> {
        Ok(mem::take(gradients.get_or_alloc_mut(&self.tensor)?))
    }

    /// Puts back a gradient that [`take_gradient`](Self::take_gradient) took.
    pub fn put_gradient(&self, gradients: &mut Gradients<f32, Cpu>, gradient: Vec<f32>) -> Result<(), CpuError> {
        **gradients.get_or_alloc_mut(&self.tensor)? = gradient;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dfdx::{
        shapes::{Axes2, Axes4, Rank2},
        tensor::SampleTensor,
        tensor_ops::{BroadcastTo, PermuteTo, RealizeTo, ReshapeTo},
    };

    #[test]
    fn a_view_is_read_in_place() {
        let matrix: Tensor<Rank2<3, 4>, f32, Cpu> = Cpu::default().sample_normal();
        let transposed: Tensor<[usize; 2], f32, Cpu> = matrix.clone().permute::<_, Axes2<1, 0>>().realize();
        let repeated = transposed.broadcast_like::<_, Axes4<0, 1, 3, 5>>(&[1, 2, 4, 1, 3, 5]);
        let view = View::new(repeated.clone());
        assert_eq!(view.strides, [0, 0, 1, 0, 4, 0]);
        assert!(std::ptr::eq(view.storage().as_ptr(), &raw const matrix[[0, 0]]));
        assert_eq!(view.storage(), matrix.as_vec());
        let first_column: Tensor<[usize; 2], f32, Cpu> = matrix.reshape_like(&[12, 1]);
        let view = View::new(first_column.broadcast_like::<_, Axes4<0, 1, 2, 3>>(&[1, 1, 1, 1, 12, 1]));
        assert_eq!((view.strides, view.storage().len()), ([0, 0, 0, 0, 1, 0], 12));
    }
}
