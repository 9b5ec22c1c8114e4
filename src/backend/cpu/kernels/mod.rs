//! The kernels of operations. A file has the arithmetic on slices, and a function `…_kernel` that runs it forward and
//! pairs the output with its backward pass. Reading an operand merges its tape, on which `record_kernel` then records.

mod activation;
mod affine;
mod arithmetic;
pub mod attention;
mod concat;
mod contraction;
mod cross_entropy;
mod cumsum;
mod dropout;
mod gather;
mod linear;
mod norm;
mod optimizer;
mod packed_linear;
mod reduce;
mod rotary;
mod softmax;
mod where_;

pub use activation::activation_kernel;
pub use affine::affine_kernel;
pub use arithmetic::arithmetic_kernel;
pub use concat::concat_kernel;
pub use contraction::contraction_kernel;
pub use cross_entropy::cross_entropy_kernel;
pub use cumsum::cumsum_kernel;
pub use dropout::dropout_kernel;
pub use gather::gather_kernel;
pub use linear::{Linear, linear_kernel};
pub use norm::{Norm, norm_kernel};
pub use optimizer::{AdamStep, SgdStep, sum_of_squares, sum_of_squares_f32};
pub use packed_linear::packed_linear_kernel;
pub use reduce::reduce_kernel;
pub use rotary::{Rotation, rotary_kernel};
pub use softmax::softmax_kernel;
pub use where_::where_kernel;

/// An axis with the elements before it and after it: `(outer, len, inner)`.
#[derive(Clone, Copy)]
pub struct MiddleAxis {
    pub outer: usize,
    pub len: usize,
    pub inner: usize,
}

impl MiddleAxis {
    /// The number of elements that follow one another for each element before the axis.
    fn block_len(self) -> usize {
        self.len * self.inner
    }
}
