//! A tensor's elements as a slice, without a copy.

use dfdx::shapes::{HasShape, Shape, Unit};
use dfdx::tensor::{Cpu, Tensor};
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
    let sizes = tensor.shape().concrete();
    let len = tensor.shape().num_elements();
    if len == 0 {
        return Some(0);
    }
    let first = &raw const tensor[Dims::Concrete::default()];
    let mut last_index = sizes;
    let mut stride = 1;
    for axis in (0..Dims::NUM_DIMS).rev() {
        last_index[axis] -= 1;
        if sizes[axis] > 1 {
            let mut second = Dims::Concrete::default();
            second[axis] = 1;
            if &raw const tensor[second] != first.wrapping_add(stride) {
                return None;
            }
        }
        stride *= sizes[axis];
    }
    // Indexing checks that the storage reaches to the last element.
    let last = &raw const tensor[last_index];
    (last == first.wrapping_add(len - 1)).then_some(len)
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
