//! The elements of a tensor in row-major order: as a slice, without a copy, and over another shape.

use super::gradients::{KernelKey, tensor_id};
use super::operand::{FlatTensor, KernelOutput, record_kernel, with_backward};
use super::shared_tape::Tape;
use super::unnamed::SizeArray;
use super::{Runs, StridedOperand, partition_elements, unnamed};
use dfdx::shapes::{HasShape, Shape, Unit};
use dfdx::tensor::{Cpu, CpuError, PutTape, SplitTape, Tensor, ZerosTensor};
use dfdx::tensor_ops::ReshapeTo;
use std::slice;

/// The elements of a tensor in row-major order; `None` if the storage has another order.
pub fn elements<Dims: Shape, E: Unit>(tensor: &Tensor<Dims, E, Cpu>) -> Option<&[E]> {
    let len = contiguous_len(tensor)?;
    if len == 0 {
        return Some(&[]);
    }
    let first = &raw const tensor[Dims::Concrete::default()];
    #[allow(unsafe_code, reason = "dfdx lends single elements only")]
    // SAFETY: `contiguous_len` has found `len` initialized elements from `first` on in one storage. The tensor keeps
    // the storage alive, and it is borrowed as long as the slice. dfdx writes to a storage through `Arc::make_mut` or
    // before it is shared, so another tensor with this storage gets its own copy before a write. The pointer comes from
    // a reference to one element; that it may reach the others is what Tree Borrows allows, and Stacked Borrows does
    // not.
    Some(unsafe { slice::from_raw_parts(first, len) })
}

/// The elements of a tensor in row-major order, to be changed in place; `None` if the storage has another order.
///
/// A storage that other tensors share is copied first, as in every write to a dfdx tensor.
pub fn elements_mut<Dims: Shape, E: Unit>(tensor: &mut Tensor<Dims, E, Cpu>) -> Option<&mut [E]> {
    let len = contiguous_len(tensor)?;
    if len == 0 {
        return Some(&mut []);
    }
    // This is a pointer into a storage that belongs to this tensor alone, because dfdx's `index_mut` copies a shared
    // one.
    let first = &raw mut tensor[Dims::Concrete::default()];
    #[allow(unsafe_code, reason = "dfdx lends single elements only")]
    // SAFETY: `contiguous_len` has found `len` initialized elements in one storage, in row-major order, so they start
    // at the first one; a copy of the storage has the same length and order. The tensor is mutably borrowed as long as
    // the slice, and no other tensor has the storage. The pointer comes from a reference to one element; that it may
    // reach the others is what Tree Borrows allows, and Stacked Borrows does not.
    Some(unsafe { slice::from_raw_parts_mut(first, len) })
}

/// The number of elements of a tensor whose storage holds them in row-major order without gaps.
fn contiguous_len<Dims: Shape, E: Unit>(tensor: &Tensor<Dims, E, Cpu>) -> Option<usize> {
    contiguous_len_of(tensor.shape().concrete(), &|index| &raw const tensor[index])
}

/// [`contiguous_len`] of a tensor of these sizes. `element` says where the element at an index lies.
fn contiguous_len_of<Sizes: SizeArray, E>(sizes: Sizes, element: &dyn Fn(Sizes) -> *const E) -> Option<usize> {
    let len = sizes.into_iter().product();
    if len == 0 {
        return Some(0);
    }
    let first = element(Sizes::default());
    let mut last_index = sizes;
    let mut stride = 1;
    for axis in (0..sizes.as_ref().len()).rev() {
        last_index[axis] -= 1;
        if sizes[axis] > 1 {
            let mut second = Sizes::default();
            second[axis] = 1;
            if element(second) != first.wrapping_add(stride) {
                return None;
            }
        }
        stride *= sizes[axis];
    }
    // Indexing checks that the storage reaches to the last element.
    let last = element(last_index);
    (last == first.wrapping_add(len - 1)).then_some(len)
}

/// The same elements over a shape of as many elements. This shares the storage of a contiguous tensor, and copies any
/// other.
pub fn reshape<Dims: Shape, To: Shape, T: Tape<f32, Cpu>>(
    tensor: Tensor<Dims, f32, Cpu, T>,
    shape: To,
) -> Result<Tensor<To, f32, Cpu, T>, CpuError> {
    contiguous(tensor)?.try_reshape_like(&shape)
}

/// [`reshape`] to one axis.
pub fn contiguous<Dims: Shape, T: Tape<f32, Cpu>>(
    tensor: Tensor<Dims, f32, Cpu, T>,
) -> Result<Tensor<(usize,), f32, Cpu, T>, CpuError> {
    contiguous_unnamed(unnamed(tensor))
}

fn contiguous_unnamed<Sizes: Shape, T: Tape<f32, Cpu>>(
    tensor: Tensor<Sizes, f32, Cpu, T>,
) -> Result<Tensor<(usize,), f32, Cpu, T>, CpuError> {
    let len = tensor.shape().num_elements();
    let (tensor, tape) = tensor.split_tape();
    if len == 0 {
        // dfdx's copy of a permuted tensor reads the first element, even if there is none. These zeros are a copy, so the
        // gradient, which has no elements either, is recorded to go on to the tensor.
        let (key, output) = (KernelKey::of(&tensor), tensor.device().try_zeros_like(&(len,))?);
        return record_kernel(with_backward(output, move |d, gradients| gradients.add(&key, d)), (len,), tape);
    }
    match flat_view(&tensor)? {
        Some(flat) => Ok(flat.put_tape(tape)),
        None => record_kernel(copy_kernel(StridedOperand::new(tensor))?, (len,), tape),
    }
}

/// The same tensor as one axis; `None` if its elements must be copied for that.
pub fn flat_view<Dims: Shape>(tensor: &Tensor<Dims, f32, Cpu>) -> Result<Option<FlatTensor>, CpuError> {
    if elements(tensor).is_none() {
        return Ok(None);
    }
    let len = tensor.shape().num_elements();
    let flat = tensor.clone().try_reshape_like(&(len,))?;
    // dfdx copies a permuted tensor even if only axes of one element have moved. Its copy has a gradient of its own.
    Ok((len == 0 || tensor_id(&flat) == tensor_id(tensor)).then_some(flat))
}

/// The elements in row-major order.
fn copy_kernel(operand: StridedOperand) -> Result<KernelOutput, CpuError> {
    let (runs, partition) = (Runs::new(&operand), partition_elements(operand.len(), 0));
    let mut y = operand.alloc_output(operand.len())?;
    partition.map_mut(&mut y, 1, |chunk, y| runs.copy(y, chunk.range(), operand.storage()));
    let output = operand.new_tensor(y)?;
    let gradient = operand.gradient();
    Ok(with_backward(output, move |dy, gradients| gradient.add(gradients, &dy)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dfdx::shapes::{Axes2, Axis, Rank0, Rank1, Rank2, Rank3};
    use dfdx::tensor::{SampleTensor, ZerosTensor};
    use dfdx::tensor_ops::{BroadcastTo, PermuteTo};

    #[test]
    fn elements_are_those_of_the_tensor() {
        fn check<S: Shape>(mut tensor: Tensor<S, f32, Cpu>) {
            assert_eq!(elements(&tensor).unwrap(), tensor.as_vec());
            let expected: Vec<f32> = tensor.as_vec().iter().map(|x| x + 1.0).collect();
            elements_mut(&mut tensor).unwrap().iter_mut().for_each(|x| *x += 1.0);
            assert_eq!(tensor.as_vec(), expected);
        }
        let device = Cpu::default();
        check(device.sample_normal::<Rank0>());
        check(device.sample_normal::<Rank1<1>>());
        check(device.sample_normal::<Rank1<7>>());
        check(device.sample_normal::<Rank2<3, 4>>());
        check(device.sample_normal::<Rank2<4, 1>>());
        check(device.sample_normal::<Rank3<2, 3, 5>>());
        check(device.sample_normal_like(&(3, 5)));
        // The axes of size 1 do not matter.
        check(device.sample_normal::<Rank2<1, 4>>().permute::<Rank2<4, 1>, _>());
    }

    #[test]
    fn a_tensor_without_elements_has_none() {
        // dfdx's `as_vec` panics on such a tensor.
        assert_eq!(elements(&Cpu::default().zeros::<Rank2<3, 0>>()), Some(&[][..]) as Option<&[f32]>);
        assert!(elements_mut(&mut Cpu::default().zeros::<Rank1<0>>()).is_some_and(|x: &mut [f32]| x.is_empty()));
    }

    #[test]
    fn a_storage_of_another_order_is_refused() {
        fn check<S: Shape>(mut tensor: Tensor<S, f64, Cpu>) {
            assert!(elements(&tensor).is_none(), "{:?}", tensor.shape());
            assert!(elements_mut(&mut tensor).is_none());
        }
        let device = Cpu::default();
        check(device.sample_normal::<Rank2<3, 4>>().permute::<Rank2<4, 3>, _>());
        check(device.sample_normal::<Rank2<3, 3>>().permute::<_, Axes2<1, 0>>());
        check(device.sample_normal::<Rank1<4>>().broadcast::<Rank2<3, 4>, Axis<0>>());
        check(device.sample_normal::<Rank1<4>>().broadcast::<Rank2<4, 2>, Axis<1>>());
        check(device.sample_normal::<Rank0>().broadcast::<Rank1<2>, _>());
    }

    #[test]
    fn a_storage_that_is_not_shared_is_changed_in_place() {
        let mut tensor: Tensor<Rank2<3, 4>, f32, _> = Cpu::default().sample_normal();
        let first = &raw const tensor[[0, 0]];
        assert!(std::ptr::eq(elements_mut(&mut tensor).unwrap().as_ptr(), first));
        assert!(std::ptr::eq(elements(&tensor).unwrap().as_ptr(), first));
    }

    #[test]
    fn a_tensor_that_shares_the_storage_does_not_change() {
        let mut tensor: Tensor<Rank2<3, 4>, f32, _> = Cpu::default().sample_normal();
        let other = tensor.clone();
        let before = other.as_vec();
        elements_mut(&mut tensor).unwrap().fill(7.0);
        assert_eq!(other.as_vec(), before);
        assert_eq!(tensor.as_vec(), [7.0; 12]);
    }
}
