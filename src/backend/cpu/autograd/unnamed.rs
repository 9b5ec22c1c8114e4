//! Shapes of sizes alone.
//!
//! The compiler makes code for each shape that an operation of dfdx is called with. Code that drops the types of the
//! dimensions first is made once for each number of axes.

use dfdx::shapes::{Axis, HasAxes, ReduceShape, ReduceShapeTo, Shape};
use dfdx::tensor::{Storage, Tape, Tensor};
use dfdx::tensor_ops::RealizeTo;
use std::fmt::Debug;
use std::ops::{Index, IndexMut};

/// A shape of sizes alone, for operations that treat all elements alike. `Array` is `[usize; N]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unnamed<Array>(Array);

impl<Array> Unnamed<Array> {
    pub fn new(sizes: Array) -> Self {
        Self(sizes)
    }
}

/// The sizes of a shape, with dfdx's requirements of them.
macro_rules! size_array {
    ($($requirements:tt)*) => {
        pub trait SizeArray: $($requirements)* {}
        impl<Array: $($requirements)*> SizeArray for Array {}
    };
}
size_array!(
    'static
        + Debug
        + Copy
        + Default
        + Eq
        + Index<usize, Output = usize>
        + IndexMut<usize>
        + Send
        + Sync
        + IntoIterator<Item = usize>
        + Into<Vec<usize>>
        + AsRef<[usize]>
);

impl<Array: SizeArray> Shape for Unnamed<Array> {
    const NUM_DIMS: usize = size_of::<Array>() / size_of::<usize>();
    type Concrete = Array;
    // The number of axes is not in the type, so the only reduction is the one over all of them.
    type AllAxes = Axis<0>;
    type LastAxis = Axis<0>;

    fn concrete(&self) -> Array {
        self.0
    }

    fn from_concrete(sizes: &Array) -> Option<Self> {
        Some(Self(*sizes))
    }

    fn strides(&self) -> Array {
        let mut strides = Array::default();
        let mut stride = 1;
        for axis in (0..Self::NUM_DIMS).rev() {
            strides[axis] = stride;
            stride *= self.0[axis];
        }
        strides
    }
}
impl<Array: SizeArray> HasAxes<Axis<0>> for Unnamed<Array> {
    fn size(&self) -> usize {
        self.num_elements()
    }
}
impl<Array: SizeArray> ReduceShapeTo<(), Axis<0>> for Unnamed<Array> {}
impl<Array: SizeArray> ReduceShape<Axis<0>> for Unnamed<Array> {
    type Reduced = ();
}

/// A tensor over the sizes of `Dims`.
pub type UnnamedTensor<Dims, E, D, T> = Tensor<Unnamed<<Dims as Shape>::Concrete>, E, D, T>;

/// The same tensor over the sizes of its dimensions.
pub fn unnamed<Dims: Shape, E, D: Storage<E>, T: Tape<E, D>>(
    tensor: Tensor<Dims, E, D, T>,
) -> UnnamedTensor<Dims, E, D, T> {
    let Ok(tensor) = tensor.try_realize() else { unreachable!("`Unnamed` takes all sizes") };
    tensor
}

/// A tensor over dimensions of these sizes.
pub fn named<Dims: Shape, E, D: Storage<E>, T: Tape<E, D>>(
    tensor: UnnamedTensor<Dims, E, D, T>,
) -> Tensor<Dims, E, D, T> {
    let Ok(tensor) = tensor.try_realize() else { unreachable!("the sizes are those of `Dims`") };
    tensor
}
