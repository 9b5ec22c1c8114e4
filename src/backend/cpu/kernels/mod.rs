//! The kernels of operations, by theme. Each has the arithmetic on slices, and a function `…_kernel`, which runs it
//! forward and pairs the output with its backward pass. Reading an operand merges its tape into that of the output, on
//! which `record_kernel` then records the backward pass. `optimizer` has loops alone: an update records nothing.

mod activation;
mod arithmetic;
pub mod attention;
mod contraction;
mod copies;
mod linear;
mod linear_in_bf16;
mod loss;
mod norm;
mod optimizer;
mod packed_linear;
mod reduce;
mod rotary;
mod softmax;

pub use activation::activation_kernel;
pub use arithmetic::{affine_kernel, arithmetic_kernel, dropout_kernel, round_kernel, where_kernel};
pub use contraction::contraction_kernel;
pub use copies::{concat_kernel, gather_kernel};
pub use linear::{Linear, linear_kernel};
pub use linear_in_bf16::linear_in_bf16_kernel;
pub use loss::loss_kernel;
pub use norm::{Norm, norm_kernel};
pub use optimizer::{AdamStep, SgdStep, sum_of_squares, sum_of_squares_f32};
pub use packed_linear::packed_linear_kernel;
pub use reduce::{cumsum_kernel, reduce_kernel};
pub use rotary::{Rotation, rotary_kernel};
pub use softmax::{cross_entropy_kernel, softmax_kernel};

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
