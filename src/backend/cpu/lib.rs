//! The kernels of operations on the CPU in `f32`, forward and backward.
//!
//! An operation has one kernel: it runs in vectors and on all threads, and adds one entry to the tape, after one for
//! each parameter that it is the first to read. The definition of an operation is composed of dfdx's operations,
//! each of which adds an entry.
//!
//! Loops are compiled for several widths of vector registers. The processor's width is chosen at run time, so
//! no compiler flags are needed.
//!
//! - `simd`: the level of vector instructions, reductions, elementary functions, and `ElementOps`, which makes loops generic
//!   over rows and lanes;
//! - `autograd`: operands, the tape, gradients, scratch memory and threads;
//! - `matmul`: matrix products;
//! - `packed`: weights in fewer bits;
//! - `kernels`: the kernels of operations, by theme;
//! - `mask_rule`, `kernel_options`: what a kernel is told besides its operands.
//!
//! Kernels know sizes, not types of dimensions. So they are a crate of their own, which is compiled once and
//! optimised whatever the models are.

mod autograd;
mod kernel_options;
mod kernels;
mod mask_rule;
mod matmul;
mod packed;
mod simd;

pub use autograd::{
    BackwardError, FlatTensor, GradientHook, Gradients, KernelOutput, Leaves, Operand, SharedTape, StridedOperand,
    Tape, Unnamed, UnnamedTensor, count_step, elements, elements_mut, num_threads, parallel_map, prefer_huge_pages,
    record_kernel, reshape, tensor_id, unnamed,
};
pub use kernel_options::{ActivationKind, Arithmetic, ContractionAxis, LossKind, MaskFill, NormKind, ReductionKind};
pub use kernels::attention::{AttentionConfig, AttentionDims, AttentionDropout, attention_kernel};
pub use kernels::{
    AdamStep, Linear, MiddleAxis, Norm, Rotation, SgdStep, activation_kernel, affine_kernel, arithmetic_kernel,
    concat_kernel, contraction_kernel, cross_entropy_kernel, cumsum_kernel, dropout_kernel, gather_kernel,
    linear_in_bf16_kernel, linear_kernel, loss_kernel, norm_kernel, packed_linear_kernel, reduce_kernel, rotary_kernel,
    round_kernel, softmax_kernel, sum_of_squares, sum_of_squares_f32, where_kernel,
};
pub use mask_rule::MaskRule;
pub use matmul::has_fast_bf16;
pub use packed::{Bf16Format, F16Format, Format, PackedWeight, Q8Format, Q8RowsFormat};
