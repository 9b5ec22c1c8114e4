use super::gradients::KernelKey;
use super::operand::{FlatTensor, KernelGradients, move_tape};
use super::output_memory::alloc_output;
use super::shared_tape::Tape;
use super::{Buffer, Runs, SumsInParts, copied, partition_repeated, unnamed};
use crate::simd::vectorized;
use dfdx::shapes::{HasShape, Shape};
use dfdx::tensor::{Cpu, CpuError, Merge, Tensor, TensorFromVec};
use std::slice;

/// A tensor that a kernel reads in place, whatever its strides are.
pub struct StridedOperand {
    tensor: Box<dyn IndexedTensor>,
    pub(super) sizes: Vec<usize>,
    pub(super) strides: Vec<usize>,
}

/// A tensor of any number of axes, whose elements are found by their index.
trait IndexedTensor: Send + Sync {
    fn device(&self) -> &Cpu;
    /// Where an element lies. The index is checked.
    fn element(&self, index: &[usize]) -> *const f32;
    fn key(&self) -> KernelKey;
}

impl<Dims: Shape> IndexedTensor for Tensor<Dims, f32, Cpu> {
    fn device(&self) -> &Cpu {
        self.device()
    }

    fn element(&self, index: &[usize]) -> *const f32 {
        let mut concrete = Dims::Concrete::default();
        for (axis, index) in index.iter().enumerate() {
            concrete[axis] = *index;
        }
        &raw const self[concrete]
    }

    fn key(&self) -> KernelKey {
        KernelKey::of(self)
    }
}

impl StridedOperand {
    /// Reads a tensor that has elements, and merges its tape into `tape`.
    ///
    /// # Panics
    /// If the tensor has no elements.
    pub fn read<Dims: Shape, T: Tape<f32, Cpu> + Merge<R>, R: Tape<f32, Cpu>>(
        tensor: Tensor<Dims, f32, Cpu, R>,
        tape: &mut T,
    ) -> Self {
        Self::new(move_tape(tensor, tape))
    }

    /// Reads a tensor that has elements.
    ///
    /// # Panics
    /// If the tensor has no elements.
    pub fn new<Dims: Shape>(tensor: Tensor<Dims, f32, Cpu>) -> Self {
        let sizes = tensor.shape().concrete().into();
        Self::with_strides(Box::new(unnamed(tensor)), sizes)
    }

    fn with_strides(tensor: Box<dyn IndexedTensor>, sizes: Vec<usize>) -> Self {
        let mut index = vec![0; sizes.len()];
        let first = tensor.element(&index);
        // dfdx does not show the strides, but it lends each element.
        let mut stride = |axis: usize| {
            if sizes[axis] == 1 {
                return 0;
            }
            index[axis] = 1;
            let second = tensor.element(&index);
            index[axis] = 0;
            (second.addr() - first.addr()) / size_of::<f32>()
        };
        Self { strides: (0..sizes.len()).map(&mut stride).collect(), sizes, tensor }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.sizes.iter().product()
    }

    /// The stride of an axis, in elements; 0 if the axis has one element, or repeats one.
    pub fn stride(&self, axis: usize) -> usize {
        self.strides[axis]
    }

    /// The elements in the tensor's storage, from the first to the last of the operand.
    pub fn storage(&self) -> &[f32] {
        let last: Vec<usize> = self.sizes.iter().map(|size| size - 1).collect();
        let offset: usize = last.iter().zip(&self.strides).map(|(index, stride)| index * stride).sum();
        let (first, last) = (self.tensor.element(&vec![0; last.len()]), self.tensor.element(&last));
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

    /// Memory for an output of `len` elements of any value, on the tensor's device.
    pub fn alloc_output(&self, len: usize) -> Result<Vec<f32>, CpuError> {
        alloc_output(self.tensor.device(), len)
    }

    /// A tensor of these elements on the tensor's device.
    pub fn new_tensor(&self, elements: Vec<f32>) -> Result<FlatTensor, CpuError> {
        let shape = (elements.len(),);
        self.tensor.device().try_tensor_from_vec(elements, shape)
    }

    /// Adds the parts of a term to the gradient, which has the layout of the tensor's storage.
    pub fn add_gradient(&self, gradients: &mut KernelGradients, parts: Vec<Buffer>) {
        gradients.add_parts(&self.tensor.key(), parts);
    }

    /// Where the gradient is put. The result does not keep the elements.
    pub fn gradient(&self) -> StridedGradient {
        StridedGradient { key: self.tensor.key(), runs: Runs::new(self), storage_len: self.storage().len() }
    }
}

/// Where a kernel puts the gradient of a strided operand.
pub struct StridedGradient {
    key: KernelKey,
    runs: Runs,
    storage_len: usize,
}

impl StridedGradient {
    /// Adds a term that has the gradient of each element, in row-major order. An element that is repeated gets the sum.
    pub fn add(&self, gradients: &mut KernelGradients, term: &[f32]) {
        if self.runs.is_contiguous() {
            return gradients.add(&self.key, copied(term));
        }
        let partition = partition_repeated(self.storage_len, term.len());
        let parts = partition.map_chunks(partition.chunks(), |chunk| {
            let mut sums = SumsInParts::zeros(self.storage_len);
            vectorized!(self.runs.add(&mut sums, chunk.range(), &term[chunk.range()]));
            sums.into_total()
        });
        gradients.add_parts(&self.key, parts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dfdx::shapes::{Axes2, Axes4, Rank2};
    use dfdx::tensor::SampleTensor;
    use dfdx::tensor_ops::{BroadcastTo, PermuteTo, RealizeTo, ReshapeTo};

    #[test]
    fn a_tensor_of_any_strides_is_read_in_place() {
        let matrix: Tensor<Rank2<3, 4>, f32, Cpu> = Cpu::default().sample_normal();
        let transposed: Tensor<[usize; 2], f32, Cpu> = matrix.clone().permute::<_, Axes2<1, 0>>().realize();
        let repeated = transposed.broadcast_like::<_, Axes4<0, 1, 3, 5>>(&[1, 2, 4, 1, 3, 5]);
        let operand = StridedOperand::new(repeated.clone());
        assert_eq!(operand.strides, [0, 0, 1, 0, 4, 0]);
        assert!(std::ptr::eq(operand.storage().as_ptr(), &raw const matrix[[0, 0]]));
        assert_eq!(operand.storage(), matrix.as_vec());
        let first_column: Tensor<[usize; 2], f32, Cpu> = matrix.reshape_like(&[12, 1]);
        let operand = StridedOperand::new(first_column.broadcast_like::<_, Axes4<0, 1, 2, 3>>(&[1, 1, 1, 1, 12, 1]));
        assert_eq!((&operand.strides[..], operand.storage().len()), (&[0, 0, 0, 0, 1, 0][..], 12));
    }
}
